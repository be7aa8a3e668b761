"""Reference HPL beside Kumiki's Linpack: an xhpl, or Debian's hpcc, that is found on the PATH."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

from kumiki.errors import ExitCode
from kumiki.evaluation.process import Ended
from kumiki.linpack import hpl_dat
from kumiki.linpack.beside import ONE_THREAD
from kumiki.linpack.hpl_dat import HplDat
from kumiki.linpack.model import USUAL, operations, results
from kumiki.machine import mpi
from kumiki.machine.native import Native
from kumiki.results.row import ProgramRow
from kumiki.results.statistics import FEWEST_SAMPLES
from kumiki.suites.model import Command, Grid, Mpirun, Point

NAME = "hpl"
"""Of the implementation, in rows."""
RUNS = FEWEST_SAMPLES
"""Of each N: a start is not repeated, and fewer runs would allow no verdict."""
SIZES_AT_ONCE = hpl_dat.MOST_VALUES // RUNS
"""HPL reads no more values, each of which is one run."""
HPCC_SECONDS = 20.0
"""Of the other tests of HPC Challenge, which cannot be left out."""
ASKING_SECONDS = 5
CORE_FLOPS = 25e9
FILES = {"xhpl": "HPL.dat", "hpcc": "hpccinf.txt"}
"""Programs, and their input files."""
LIBRARIES = {"libmpi.so": "openmpi", "libmpich": "mpich"}
"""By a part of its name, the MPI to which a library belongs."""
SCRIPT = """
folder=$(mktemp -d) || exit
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit
printf %s "$1" > "$2"
shift 2
"$@" || exit
if [ -f hpccoutf.txt ]; then cat hpccoutf.txt; fi
"""
"""Runs a command in a folder of its own with an input file: its text, its name, and the command."""
PASSED = "PASSED"


@dataclass(frozen=True)
class Reference:
    """A program that was found, and the MPI with whose libraries it is linked."""

    path: str
    name: str
    mpi: mpi.Mpi


@lru_cache
def found() -> Reference | None:
    """The first of these programs that is on the PATH and linked with an MPI whose launcher is here."""
    for name in FILES:
        path = shutil.which(name)
        peer = _mpi_of(path) if path else None
        if path and peer:
            return Reference(path, name, peer)
    return None


def _mpi_of(path: str) -> mpi.Mpi | None:
    try:
        linked = subprocess.run(["ldd", path], capture_output=True, text=True, timeout=ASKING_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    names = [name for library, name in LIBRARIES.items() if library in linked.stdout]
    return next((peer for peer in mpi.ALL if peer.name in names and mpi.launcher(peer)), None)


@dataclass(frozen=True, kw_only=True)
class HplPoint(Point):
    """Some sizes in one start of the program, with a process of one thread for each core."""

    reference: Reference
    sizes: tuple[int, ...]
    block: int

    def command(self, native: Native, cores: int) -> Command:
        ranks, launcher = self.launcher.ranks, mpi.launcher(self.reference.mpi)
        sizes = tuple(size for size in self.sizes for _ in range(RUNS))
        file = hpl_dat.text_of(HplDat(sizes, (self.block,), ((1, ranks),), nbmin=(4,)))
        mpirun = (launcher or "mpirun", *self.reference.mpi.arguments(ranks, cores))
        variables = {**self.reference.mpi.environment, **dict.fromkeys(ONE_THREAD, "1")}
        words = ("sh", "-c", SCRIPT, "sh", file, FILES[self.reference.name], *mpirun, self.reference.path)
        return Command(words, variables)

    def reader(self, cores: int) -> HplReader:
        return HplReader(self)

    def absence(self, native: Native) -> str | None:
        return None

    @property
    def setting(self) -> str:
        return f"{super().setting} N={','.join(map(str, self.sizes))}"

    @property
    def may_settle(self) -> bool:
        return False


class HplReader:
    """Reads the lines of results of HPL: a row for each N."""

    silence = "printed no line of results of HPL"
    malformed: str | None = None

    def __init__(self, point: HplPoint) -> None:
        self._point = point
        self._lines: list[str] = []

    def take(self, line: str) -> bool:
        self._lines.append(line)
        return False

    def take_error(self, line: str) -> None:
        pass

    def rows(self, ended: Ended) -> tuple[ProgramRow, ...]:
        if ended.code != ExitCode.OK:
            return ()
        rates: dict[int, list[float]] = defaultdict(list)
        for result in results(self._lines):
            rates[result.size].append(result.rate)
        passed = sum(PASSED in line for line in self._lines) >= RUNS * len(self._point.sizes)
        point = self._point
        return tuple(
            ProgramRow(
                metric=point.metric,
                implementation=point.implementation,
                parameters={**point.parameters, "n": size},
                unit=point.unit,
                better=point.better,
                samples=tuple(samples),
                validated=passed,
                oversubscribed=False,
                note=point.reference.name,
            )
            for size, samples in rates.items()
        )


def points(grid: Grid, sizes: tuple[int, ...], block: int) -> list[Point]:
    """As few points as HPL allows, if it is here, else none. Not in a quick evaluation: hpcc takes its time."""
    reference = found()
    if reference is None or grid.quick or grid.hosts is not None:
        return []
    starts = range(0, len(sizes), SIZES_AT_ONCE)
    return [_point(grid, reference, sizes[start : start + SIZES_AT_ONCE], block) for start in starts]


def _point(grid: Grid, reference: Reference, sizes: tuple[int, ...], block: int) -> Point:
    return HplPoint(
        suite="linpack",
        metric="linpack.rate",
        implementation=NAME,
        program=reference.name,
        arguments=(),
        launcher=Mpirun(reference.mpi, grid.cores),
        parameters={
            **{"ranks": grid.cores, "threads": 1, "n": sizes[-1], "block": block},
            **{"grid": f"1x{grid.cores}", "weights": "equal", **USUAL},
        },
        unit="GFLOP/s",
        better="higher",
        seconds=0.0,
        setup_seconds=sum(RUNS * operations(size) for size in sizes) / CORE_FLOPS / grid.cores
        + (HPCC_SECONDS if reference.name == "hpcc" else 0.0),
        reference=reference,
        sizes=sizes,
        block=block,
    )
