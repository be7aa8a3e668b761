"""One OpenMP program on one runtime: libgomp, libomp or Kumiki's, the same binary on each."""

from __future__ import annotations

import ctypes.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from kumiki.evaluation.process import Ended
from kumiki.evaluation.reader import RowReader
from kumiki.machine.native import Native
from kumiki.results.row import ProgramRow
from kumiki.suites.model import Command, Grid, Point

SUITE_NAME = "openmp"
TIME, VERIFIED = "openmp.time", "openmp.verified"
LIBGOMP, LIBOMP, KUMIKI = "libgomp", "libomp", "kumiki"
UNNAMED = "openmp"
"""What programs say that only know that they run on an OpenMP runtime."""
LIBOMP_PLACES = "lib/llvm*/lib/libomp.so*"
NO_LIBOMP = (
    "LLVM's OpenMP runtime is not on this machine, so nothing is measured on it; install it: sudo apt install libomp5"
)
OWN_PARAMETERS = ("form", "working")
"""Parameters of the programs' times that say nothing here: their form is always that of OpenMP, or of MPI."""
RECORDED = """
folder=$(mktemp -d) || exit
trap 'rm -rf "$folder"' EXIT
python=$1
shift
KUMIKI_EXPLAIN="$folder" "$@" || exit
"$python" -m kumiki.explain.moved "$folder"
"""
"""Runs a command that records what its pages do, and prints it as rows: the Python, and the command."""


@lru_cache
def libomp() -> str | None:
    """The file that is loaded before libgomp, so that the program runs on LLVM's runtime; None without it."""
    if found := ctypes.util.find_library("omp"):
        return found
    return next((str(path) for path in sorted(Path("/usr").glob(LIBOMP_PLACES))), None)


def on_libomp(grid: Grid, threads: int) -> Mapping[str, str]:
    """The variables with which a program that is linked with libgomp runs on libomp, its threads bound like there.

    libgomp remains in the process. If OMP_PROC_BIND bound threads, it would bind the initial thread before libomp looks
    how many processors there are, and libomp would find one.
    """
    bound = {"KMP_AFFINITY": "granularity=fine,compact"} if threads <= grid.cores else {}
    return {**bound, "LD_PRELOAD": libomp() or ""}


@dataclass(frozen=True, kw_only=True)
class OpenMpPoint(Point):
    """A point whose rows get the names of this suite, and its parameters in addition to the program's own."""

    names: Mapping[str, str] = field(default_factory=dict)
    """The metrics that are kept, and their names in this suite."""
    recorded: bool = False
    """Whether it records what pages do, which takes time: such a run says only this, and not how fast it was."""

    @property
    def setting(self) -> str:
        return f"{super().setting} on {self.implementation}{', recorded' if self.recorded else ''}"

    @property
    def label(self) -> str:
        ranks, threads = self.place
        return f"{self.suite}: {self.program.removeprefix('openmp-')}, {self.implementation}, {ranks} x {threads}"

    @property
    def may_settle(self) -> bool:
        return not self.recorded

    def reader(self, cores: int) -> OpenMpReader:
        return OpenMpReader(self, cores)

    def command(self, native: Native, cores: int) -> Command:
        command = super().command(native, cores)
        if not self.recorded:
            return command
        return Command(("sh", "-c", RECORDED, "sh", sys.executable, *command.arguments), command.variables)

    def absence(self, native: Native) -> str | None:
        if self.implementation == LIBOMP and libomp() is None:
            return NO_LIBOMP
        return super().absence(native)


class OpenMpReader:
    """Keeps the rows of a program that the suite is about, under the names of the suite."""

    def __init__(self, point: OpenMpPoint, cores: int) -> None:
        self._point = point
        self._rows = RowReader(point.location)
        self._cores = point.all_cores(cores)

    @property
    def silence(self) -> str:
        return f"printed no row of {' or '.join(self._point.names)} on {self._point.implementation}"

    @property
    def malformed(self) -> str | None:
        return self._rows.malformed

    def take(self, line: str) -> bool:
        return self._rows.take(line)

    def take_error(self, line: str) -> None:
        self._rows.take_error(line)

    def rows(self, ended: Ended) -> tuple[ProgramRow, ...]:
        point = self._point
        accepted = (UNNAMED, point.implementation)
        found = [row for row in self._rows.rows(ended) if row.implementation in accepted]
        kept = [self._named(row, point.names[row.metric]) for row in found if row.metric in point.names]
        if point.recorded:
            solutions = next((len(row.samples) for row in found if row.metric.endswith(".time")), 1)
            return tuple(_of_one(row, solutions) for row in kept)
        return (*kept, *(_verified(row) for row in kept if row.metric == TIME))

    def _named(self, row: ProgramRow, metric: str) -> ProgramRow:
        """The row under the suite's name. The program knows its threads, but not how they are spread."""
        left_out = OWN_PARAMETERS if metric == TIME else ()
        own = {name: value for name, value in row.parameters.items() if name not in left_out}
        return replace(
            row,
            metric=metric,
            implementation=self._point.implementation,
            parameters={**own, **self._point.parameters},
            oversubscribed=self._point.total > self._cores,
        )


def _of_one(row: ProgramRow, solutions: int) -> ProgramRow:
    """What a run has recorded of all its solutions, and of the warm-up before them, as that of one: a single sample,
    because the record does not say how the solutions differ.
    """
    return row if row.unit == "%" else replace(row, samples=(row.samples[0] / (solutions + 1),))


def _verified(row: ProgramRow) -> ProgramRow:
    """A row with a sample for each timed solution: 1 if the program has found all of them right, else 0."""
    right = 1.0 if row.validated else 0.0
    return replace(row, metric=VERIFIED, unit="1", better="higher", samples=(right,) * len(row.samples), note=None)
