"""What the operating system tells of this machine (/proc and /sys); None where it does not tell."""

from __future__ import annotations

import ctypes.util
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

UNLIMITED_QUOTA_V1 = "-1"
BLAS_LIBRARIES = ("openblas", "blis", "mkl_rt", "cblas", "blas")
"""In the order in which the build looks for them."""


@dataclass(frozen=True)
class Machine:
    """The machine as this process may use it; `root` is the folder that holds proc and sys (a test's own, or /)."""

    root: Path = Path("/")

    def usable_processors(self) -> list[int]:
        """The logical processors that this process may run on."""
        if hasattr(os, "sched_getaffinity"):
            return sorted(os.sched_getaffinity(0))
        return list(range(os.cpu_count() or 1))

    def usable_cores(self) -> int:
        """Whole cores that this process may keep busy: siblings count once, and a cgroup's quota limits them."""
        cores = {self._core_of(processor) for processor in self.usable_processors()}
        quota = self.processor_quota()
        return len(cores) if quota is None else max(1, min(len(cores), int(quota)))

    def threads_per_core(self) -> int:
        processors = self.usable_processors()
        return max(1, len(processors) // len({self._core_of(processor) for processor in processors}))

    def packages(self) -> int:
        return len({self._core_of(processor)[0] for processor in self.usable_processors()})

    def processor_quota(self) -> float | None:
        """Processors' worth of time that the cgroups of this process allow; None without a limit."""
        limits = [limit for folder in self._cgroup_folders() if (limit := _quota_of(folder)) is not None]
        return min(limits, default=None)

    def model(self) -> str:
        for name in ("model name", "Model", "cpu model", "cpu"):
            if value := self._cpuinfo(name):
                return value
        return platform.processor() or platform.machine()

    def governor(self) -> str | None:
        return _read(self._processor_folder(self.usable_processors()[0]) / "cpufreq" / "scaling_governor")

    def turbo(self) -> bool | None:
        """Whether the clock may rise above its base, which makes it depend on temperature and neighbours."""
        if (denied := _read(self.root / "sys/devices/system/cpu/intel_pstate/no_turbo")) is not None:
            return denied == "0"
        allowed = _read(self.root / "sys/devices/system/cpu/cpufreq/boost")
        return None if allowed is None else allowed == "1"

    def caches(self) -> list[dict[str, Any]]:
        """One entry per kind of cache: level, type, bytes, line_bytes, and count, how many of them there are."""
        kinds: dict[tuple[int, str, int, int], set[str]] = {}
        for processor in self.usable_processors():
            for folder in sorted((self._processor_folder(processor) / "cache").glob("index[0-9]*")):
                size, level = _read(folder / "size"), _read(folder / "level")
                if size is None or level is None:
                    continue
                line = int(_read(folder / "coherency_line_size") or 0)
                kind = (int(level), (_read(folder / "type") or "unified").lower(), _bytes_of(size), line)
                kinds.setdefault(kind, set()).add(_read(folder / "shared_cpu_list") or str(processor))
        names = ("level", "type", "bytes", "line_bytes")
        return [{**dict(zip(names, kind, strict=True)), "count": len(kinds[kind])} for kind in sorted(kinds)]

    def memory_bytes(self) -> int | None:
        for line in (_read(self.root / "proc/meminfo") or "").splitlines():
            if line.startswith("MemTotal:"):
                return int(line.split()[1]) * 1024
        return None

    def numa_nodes(self) -> int:
        return max(1, len(list((self.root / "sys/devices/system/node").glob("node[0-9]*"))))

    def transparent_huge_pages(self) -> str | None:
        """The setting in force: always, madvise or never."""
        said = _read(self.root / "sys/kernel/mm/transparent_hugepage/enabled") or ""
        return said[said.index("[") + 1 : said.index("]")] if "[" in said and "]" in said else None

    def shared_memory_bytes(self) -> int | None:
        """The size of /dev/shm, which MPI (and not Kumiki) keeps its shared memory in."""
        try:
            status = os.statvfs(self.root / "dev/shm")
        except OSError:
            return None
        return status.f_frsize * status.f_blocks

    def virtual_machine(self) -> bool:
        return "hypervisor" in (self._cpuinfo("flags") or "").split() or (self.root / "sys/hypervisor/type").exists()

    def container(self) -> bool:
        return any((self.root / name).exists() for name in (".dockerenv", "run/.containerenv", "run/systemd/container"))

    def kernel(self) -> str:
        return f"{platform.system()} {platform.release()}"

    def distribution(self) -> str | None:
        for line in (_read(self.root / "etc/os-release") or "").splitlines():
            if line.startswith("PRETTY_NAME="):
                return line.partition("=")[2].strip('"')
        return None

    def blas(self) -> str | None:
        """The BLAS library that programs are linked with here, as the dynamic linker names it."""
        return next(filter(None, map(ctypes.util.find_library, BLAS_LIBRARIES)), None)

    def busy_seconds(self) -> float:
        """Seconds since its start that the usable processors have worked for any process, or were taken by the host of
        this virtual machine for another one; 0 when the system does not tell. Interrupts are nobody's and not counted.
        """
        usable = {f"cpu{processor}" for processor in self.usable_processors()}
        ticks = 0
        for line in (_read(self.root / "proc/stat") or "").splitlines():
            name, *counts = line.split()
            if name in usable:
                user, nice, system, _idle, _waiting, _interrupts, _soft, stolen = map(int, counts[:8])
                ticks += user + nice + system + stolen
        return ticks / os.sysconf("SC_CLK_TCK")

    def _cpuinfo(self, name: str) -> str | None:
        for line in (_read(self.root / "proc/cpuinfo") or "").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == name:
                return value.strip()
        return None

    def _processor_folder(self, processor: int) -> Path:
        return self.root / f"sys/devices/system/cpu/cpu{processor}"

    def _core_of(self, processor: int) -> tuple[str, str]:
        topology = self._processor_folder(processor) / "topology"
        return _read(topology / "physical_package_id") or "0", _read(topology / "core_id") or f"processor {processor}"

    def _cgroup_folders(self) -> Iterator[Path]:
        """The cgroups of this process that can limit its processor time, from the innermost outwards."""
        for line in (_read(self.root / "proc/self/cgroup") or "").splitlines():
            number, _, rest = line.partition(":")
            controllers, _, path = rest.partition(":")
            if number == "0":
                mount = self.root / "sys/fs/cgroup"
            elif "cpu" in controllers.split(","):
                mount = self.root / "sys/fs/cgroup" / controllers
            else:
                continue
            inner = Path(path.lstrip("/"))
            yield from (mount / part for part in (inner, *inner.parents))


def _quota_of(cgroup: Path) -> float | None:
    quota, _, period = (_read(cgroup / "cpu.max") or "max").partition(" ")
    if quota != "max":
        return int(quota) / int(period)
    quota, period = _read(cgroup / "cpu.cfs_quota_us") or UNLIMITED_QUOTA_V1, _read(cgroup / "cpu.cfs_period_us") or ""
    return None if quota == UNLIMITED_QUOTA_V1 or not period else int(quota) / int(period)


def _bytes_of(size: str) -> int:
    """The bytes in a cache size as the kernel writes it: 48K, 2M."""
    factor = {"K": 2**10, "M": 2**20, "G": 2**30}.get(size[-1])
    return int(size) if factor is None else int(size[:-1]) * factor


def _read(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None
