"""Programs that other launchers than ours start: building them, starting them, and watching what they leave behind."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from kumiki import mpi

TIME_LIMIT = 60
ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("joining.cpp")
MARK = "JOINING_TEST_MARK"
CLEAN = ("KUMIKI_", "PMI", "OMPI_", "SLURM_", "OMP_", "HYDRA_")


def library_folder() -> Path:
    """Of the build under test: beside the folder of the kumiki-run that KUMIKI_RUN names or that is on PATH."""
    run = os.environ.get("KUMIKI_RUN") or shutil.which("kumiki-run")
    if run is None:
        pytest.skip("kumiki-run is not built: set KUMIKI_RUN or PATH")
    return Path(run).resolve().parents[1] / "lib"


def need_module(name: str, package: str) -> None:
    if not (library_folder() / f"{name}.so").exists():
        pytest.skip(f"{name}.so is not built: install {package} and build again")


def build(folder: Path, compiler: Sequence[str] = ("c++",)) -> Path:
    """The program of joining.cpp."""
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    library = library_folder()
    program = folder / "joining"
    arguments = ("-std=c++20", f"-I{ROOT / 'include'}", "-o", str(program), str(SOURCE))
    link = (f"-L{library}", "-lkumiki", f"-Wl,-rpath,{library}")
    built = subprocess.run([*compiler, *arguments, *link], capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stderr
    return program


@dataclass
class Starter:
    """Starts jobs with a mark in the environment, by which their processes are found."""

    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def run(self, *command: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(CLEAN)}
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run(
            command,
            env={**clean, **root, MARK: self.mark, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )

    def processes(self) -> list[int]:
        """All living processes that carry the mark."""
        needle = f"{MARK}={self.mark}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and needle in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
        return found

    def nothing_left(self, seconds: float = 5.0) -> bool:
        end = time.monotonic() + seconds
        while self.processes() and time.monotonic() < end:
            time.sleep(0.05)
        return not self.processes()

    def end(self) -> None:
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def places(output: str) -> list[tuple[int, int]]:
    """Rank and size from each rank's line; two lines may have been mixed, but none is lost."""
    return sorted((int(rank), int(size)) for rank, size in re.findall(r"rank (\d+) of (\d+)", output))


def all_of(ranks: int) -> list[tuple[int, int]]:
    """The places in a job of so many."""
    return [(rank, ranks) for rank in range(ranks)]


def expect_job(ended: subprocess.CompletedProcess[str], ranks: int, log: str = "") -> None:
    """Expects that so many ranks have joined one job, and ended well; `log` is told otherwise."""
    assert ended.returncode == 0, ended.stderr + log
    assert places(ended.stdout) == all_of(ranks)


@dataclass(frozen=True)
class Mpirun:
    """The launcher of one MPI."""

    kind: mpi.Mpi
    path: str

    def on_this_host(self, ranks: int) -> list[str]:
        unlimited = ["--oversubscribe"] if self.kind is mpi.OPENMPI else []
        return [self.path, *unlimited, "-n", str(ranks)]

    def over(self, namespaces: Sequence[str], ranks_per_host: int, agent: Path) -> list[str]:
        """Over hosts that are network namespaces, of which the first starts the others."""
        enter = ["ip", "netns", "exec", namespaces[0]]
        hosts = ",".join(f"{namespace}:{ranks_per_host}" for namespace in namespaces)
        count = ["-n", str(ranks_per_host * len(namespaces))]
        if self.kind is mpi.OPENMPI:
            how = ["--mca", "plm_rsh_agent", str(agent), "-x", "KUMIKI_INTERFACE", "-x", MARK, "--host", hosts]
            return [*enter, self.path, "--oversubscribe", *how, *count]
        how = ["-iface", "eth0", "-launcher", "ssh", "-launcher-exec", str(agent), "-hosts", hosts]
        return [*enter, self.path, *how, *count]

    def compiler(self) -> tuple[str, ...]:
        name = f"mpicxx.{self.kind.name}"
        return (name if shutil.which(name) else "mpicxx", "-DWITH_MPI", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")


def find_mpirun(kind: mpi.Mpi) -> Mpirun:
    path = mpi.launcher(kind)
    if path is None:
        pytest.skip(f"{kind.title} is not installed")
    if kind is mpi.OPENMPI:
        need_module("kumiki-pmix", "libpmix-dev")
    return Mpirun(kind, path)
