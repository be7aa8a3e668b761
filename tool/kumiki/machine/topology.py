"""This machine: kumiki-topology reports its hardware, the system reports the settings that affect measurements."""

from __future__ import annotations

import ctypes.util
import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import psutil

from kumiki.errors import complain
from kumiki.machine.native import Native

ASKING_SECONDS = 20
SCHEMA_VERSION = 1
OTHER_MACHINES = ("HWLOC_SYNTHETIC", "HWLOC_XMLFILE")
"""Variables that make kumiki-topology describe a machine other than this one."""
BLAS_LIBRARIES = ("openblas", "blis", "mkl_rt", "cblas", "blas")
"""The names that the build looks for, in its order."""


@dataclass(frozen=True)
class Machine:
    """The machine as this process may use it; None for values that the system does not provide."""

    topology: Mapping[str, Any] | None = None
    """The output of `kumiki-topology --json` (docs/topology.md); None without the native part (psutil has less)."""
    root: Path = Path("/")
    """The folder that contains sys and dev (/ except in tests)."""

    @staticmethod
    def here(native: Native) -> Machine:
        """This machine, described by the native part if it is installed."""
        return Machine(_topology(native.command("kumiki-topology")))

    @cached_property
    def _told(self) -> Mapping[str, Any]:
        return self.topology or _without_native()

    def processors(self) -> list[int]:
        """All logical processors, in ascending order."""
        packages = self._told["packages"]
        return sorted(processor for package in packages for core in package["cores"] for processor in core)

    def usable_processors(self) -> list[int]:
        """The processors on which this process may run."""
        return list(self._told["usable"]["processors"])

    def usable_cores(self) -> int:
        """Whole cores that this process may keep busy: siblings count once, and a cgroup's quota limits them."""
        cores, quota = int(self._told["usable"]["cores"]), self.processor_quota()
        return cores if quota is None else max(1, min(cores, int(quota)))

    def usable_core_numbers(self) -> list[int]:
        """The cores on which this process may run, as `kumiki topology` numbers them."""
        cores = [core for package in self._told["packages"] for core in package["cores"]]
        return [number for number, core in enumerate(cores) if self._is_usable(core)]

    def threads_per_core(self) -> int:
        return max(1, len(self.usable_processors()) // int(self._told["usable"]["cores"]))

    def packages(self) -> int:
        """The number of packages that this process may use."""
        return sum(any(map(self._is_usable, package["cores"])) for package in self._told["packages"])

    def processor_quota(self) -> float | None:
        """The processor time that the cgroups of this process allow, in processors; None without a limit."""
        quota = self._told["usable"]["quota"]
        return None if quota is None else float(quota)

    def model(self) -> str:
        models = (str(package["model"]) for package in self._told["packages"])
        return next(filter(None, models), "") or platform.processor() or platform.machine()

    def caches(self) -> list[dict[str, Any]]:
        """One entry per kind of cache: level, type, bytes, line_bytes, and count, the number of usable ones."""
        kinds = sorted(self._told["caches"], key=lambda cache: (cache["level"], cache["type"], cache["bytes"]))
        counted = [
            {
                **{name: kind[name] for name in ("level", "type", "bytes", "line_bytes")},
                "count": sum(map(self._is_usable, kind["shared_by"])),
            }
            for kind in kinds
        ]
        return [cache for cache in counted if cache["count"]]

    def memory_bytes(self) -> int:
        return int(self._told["memory_bytes"])

    def numa_nodes(self) -> int:
        return max(1, len(self._told["memory_nodes"]))

    def virtual_machine(self) -> bool:
        return bool(self._told["virtual"])

    def governor(self) -> str | None:
        return self._said(f"sys/devices/system/cpu/cpu{self.usable_processors()[0]}/cpufreq/scaling_governor")

    def turbo(self) -> bool | None:
        """Whether the clock may exceed its base frequency, so that it depends on temperature and other cores."""
        if (denied := self._said("sys/devices/system/cpu/intel_pstate/no_turbo")) is not None:
            return denied == "0"
        allowed = self._said("sys/devices/system/cpu/cpufreq/boost")
        return None if allowed is None else allowed == "1"

    def transparent_huge_pages(self) -> str | None:
        """The active setting: always, madvise or never."""
        said = self._said("sys/kernel/mm/transparent_hugepage/enabled") or ""
        return said[said.index("[") + 1 : said.index("]")] if "[" in said and "]" in said else None

    def shared_memory_bytes(self) -> int | None:
        """The size of /dev/shm, where MPI (but not Kumiki) keeps its shared memory."""
        try:
            status = os.statvfs(self.root / "dev/shm")
        except OSError:
            return None
        return status.f_frsize * status.f_blocks

    def container(self) -> bool:
        return any((self.root / name).exists() for name in (".dockerenv", "run/.containerenv", "run/systemd/container"))

    def kernel(self) -> str:
        return f"{platform.system()} {platform.release()}"

    def distribution(self) -> str | None:
        try:
            return platform.freedesktop_os_release().get("PRETTY_NAME")
        except OSError:
            return None

    def blas(self) -> str | None:
        """The BLAS library with which programs are linked here, as the dynamic linker names it."""
        return next(filter(None, map(ctypes.util.find_library, BLAS_LIBRARIES)), None)

    def _is_usable(self, processors: list[int]) -> bool:
        return not set(self.usable_processors()).isdisjoint(processors)

    def _said(self, setting: str) -> str | None:
        try:
            return (self.root / setting).read_text(errors="replace").strip()
        except OSError:
            return None


def free_bytes(native: Native) -> int:
    """The memory that a program started here can still get; without the native part, what the system says, which knows
    no limit of a control group."""
    program = native.command("kumiki-topology")
    try:
        asked = subprocess.run([program, "--free"], capture_output=True, text=True, timeout=ASKING_SECONDS, check=True)
        return int(asked.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return int(psutil.virtual_memory().available)


def _topology(program: Path) -> dict[str, Any] | None:
    """The output of kumiki-topology; None if it is missing, or, with a warning, if it fails."""
    if not program.is_file():
        return None
    environment = {name: value for name, value in os.environ.items() if name not in OTHER_MACHINES}
    try:
        asked = subprocess.run(
            [program, "--json"],
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ASKING_SECONDS,
            check=True,
        )
        told: dict[str, Any] = json.loads(asked.stdout)
        if told["schema_version"] == SCHEMA_VERSION:
            return told
        said = "it has another version"
    except subprocess.CalledProcessError as error:
        said = " ".join(error.stderr.split()) or f"exit code {error.returncode}"
    except (OSError, subprocess.TimeoutExpired, ValueError, LookupError, TypeError, RecursionError) as error:
        said = str(error)
    complain(f"warning: {program} cannot describe this machine ({said}); caches and packages remain unknown")
    return None


def _without_native() -> dict[str, Any]:
    """The facts that psutil provides, in the format of kumiki-topology."""
    usable, count = psutil.Process().cpu_affinity(), psutil.cpu_count() or 1
    processors = sorted(usable or range(count))
    cores = min(len(processors), psutil.cpu_count(logical=False) or count)
    return {
        "usable": {"cores": cores, "processors": processors, "quota": None},
        "packages": [{"model": "", "cores": [[processor] for processor in range(count)]}],
        "memory_bytes": psutil.virtual_memory().total,
        "memory_nodes": [],
        "caches": [],
        "virtual": False,
    }
