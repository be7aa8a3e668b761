"""The environment that results.json records, so that a reader knows where the figures were measured."""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Mapping, Sequence, Set
from datetime import datetime, timezone
from typing import Any

from kumiki import version
from kumiki.hosts import Hosts, Origin
from kumiki.machine import library, mpi
from kumiki.machine.load import present
from kumiki.machine.native import PREFIX_VARIABLE, Native
from kumiki.machine.peer import UCX, Peer
from kumiki.machine.topology import Machine

UCX_PROGRAM = "message-ucx"
"""A program that is built with UCX: the recorded version is that of the library which it loads."""


def describe(
    machine: Machine, native: Native, hosts: Hosts | None = None, peers: Sequence[Peer] = ()
) -> dict[str, Any]:
    """The environment at the start of an evaluation, which adds `load.during` later.

    `peers`: those that the user has named.
    """
    build = native.build()
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "hostname": socket.gethostname(),
        "cpu": {
            "model": machine.model(),
            "architecture": platform.machine(),
            "usable_cores": machine.usable_cores(),
            "usable_processors": len(machine.usable_processors()),
            "threads_per_core": machine.threads_per_core(),
            "packages": machine.packages(),
            "quota": machine.processor_quota(),
            "governor": machine.governor(),
            "turbo": machine.turbo(),
        },
        "caches": machine.caches(),
        "memory": {
            "bytes": machine.memory_bytes(),
            "numa_nodes": machine.numa_nodes(),
            "transparent_huge_pages": machine.transparent_huge_pages(),
            "shared_memory_bytes": machine.shared_memory_bytes(),
        },
        "system": {
            "kernel": machine.kernel(),
            "distribution": machine.distribution(),
            "virtual_machine": machine.virtual_machine(),
            "container": machine.container(),
        },
        "load": {"start": present(machine)},
        "build": build,
        "versions": {
            "kumiki": version(),
            "python": platform.python_version(),
            "blas": machine.blas(),
            **{peer.name: mpi.version(peer) for peer in mpi.ALL},
            UCX.name: library.installed_version(UCX, UCX_PROGRAM, native),
        },
        **({"peers": {peer.name: peer.as_dict() for peer in peers}} if peers else {}),
        "variables": {name: value for name, value in sorted(os.environ.items()) if name.startswith("KUMIKI_")},
        **({"cluster": hosts.as_dict()} if hosts else {}),
    }


def machine_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The ways in which two environments are not the same machine in the same state: "what (before, after)"."""
    shared = set(before.get("peers") or {}) & set(after.get("peers") or {})
    return _differences(_machine(before, shared), _machine(after, shared))


def build_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The ways in which the native parts of two environments were built differently: "what (before, after)"."""
    return _differences(before["build"] or {}, after["build"] or {})


def _machine(environment: Mapping[str, Any], peers: Set[str]) -> dict[str, Any]:
    """`peers`: those of the named ones that are compared, too."""
    cluster = environment.get("cluster")
    network: dict[str, Any] = {"hosts": 1}
    if cluster:
        network = {"hosts": cluster["hosts"], "link rate": cluster["rate"] or "full speed"}
        if cluster.get("origin", Origin.CLUSTER) != Origin.CLUSTER:
            network["host names"] = ", ".join(cluster["names"])
    return {
        "host": environment["hostname"],
        "processor": environment["cpu"]["model"],
        "usable cores": environment["cpu"]["usable_cores"],
        "kernel": environment["system"]["kernel"],
        **{peer.title: environment["versions"].get(peer.name) for peer in mpi.ALL},
        **{
            name: f"{peer['title']} {peer['version']}"
            for name, peer in (environment.get("peers") or {}).items()
            if name in peers
        },
        "variables": {name: value for name, value in environment["variables"].items() if name != PREFIX_VARIABLE},
        **network,
    }


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return [
        f"{name.replace('_', ' ')} ({_shown(before.get(name))}, {_shown(after.get(name))})"
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={held}" for name, held in value.items()) or "none"
    return str(value or "unknown")
