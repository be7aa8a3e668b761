"""The made-up machine of synthetic evaluations: its description, its counts of cores, and how fast it moves bytes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np


def interval(samples: np.ndarray) -> tuple[float, float]:
    ordered, n = np.sort(samples), samples.size
    spread = 1.96 * math.sqrt(n)
    low, high = max(math.floor((n - spread) / 2), 1), min(math.ceil(1 + (n + spread) / 2), n)
    return float(ordered[low - 1]), float(ordered[high - 1])


def counts(cores: int) -> list[int]:
    return [*(2**p for p in range(cores.bit_length()) if 2**p < cores), cores]


def splits(cores: int) -> Iterator[tuple[int, int]]:
    for total in sorted({*counts(cores), max(1, cores - 1), 2 * cores}):
        for ranks in range(1, total + 1):
            if total % ranks == 0:
                yield ranks, total // ranks


def memcpy_rate(size: int) -> float:
    """GB/s: a start-up cost, then caches, then memory."""
    top = 38.0 if size <= 2**20 else 38.0 * (2**20 / size) ** 0.42
    return streamed(size, 0.012, max(top, 7.0))


def streamed(size: int, start: float, limit: float) -> float:
    """GB/s of `size` bytes that cost `start` microseconds and then flow at `limit` GB/s."""
    return size / 1e3 / (start + size / 1e3 / limit)


def environment(cores: int) -> dict[str, Any]:
    return {
        "date": "2026-11-20T09:41:07Z",
        "hostname": "workbench",
        "cpu": {
            "model": "Example Xeon 8480 <engineering sample>",
            "architecture": "x86_64",
            "usable_cores": cores,
            "usable_processors": cores,
            "threads_per_core": 1,
            "packages": 1,
            "quota": None,
            "governor": "performance",
            "turbo": True,
        },
        "caches": [
            {"level": 1, "type": "data", "bytes": 49152, "line_bytes": 64, "count": cores},
            {"level": 2, "type": "unified", "bytes": 2097152, "line_bytes": 64, "count": cores},
            {"level": 3, "type": "unified", "bytes": 110100480, "line_bytes": 64, "count": 1},
        ],
        "memory": {
            "bytes": 33_285_996_544,
            "numa_nodes": 1,
            "transparent_huge_pages": "madvise",
            "shared_memory_bytes": 67_108_864,
        },
        "system": {
            "kernel": "Linux 6.18.2",
            "distribution": "Debian GNU/Linux 12",
            "virtual_machine": True,
            "container": False,
        },
        "load": {"start": 0.12, "during": 0.03},
        "build": {
            "compiler": "GNU 12.2.0",
            "flags": "-O3 -march=native",
            "git_revision": "0123abc",
            "version": "0.1.0",
        },
        "versions": {"kumiki": "0.1.0", "python": "3.11.2", "openmpi": "4.1.4", "mpich": None},
        "variables": {},
    }
