"""Rows as the tool takes them from a program: whether they had more threads than cores, and whether its ranks found
each other."""

from __future__ import annotations

import json

import pytest
from kumiki.evaluation.process import Ended
from kumiki.hosts import Hosts
from kumiki.hosts.model import Equipment
from kumiki.machine import mpi
from kumiki.results.row import ProgramRow
from kumiki.suites.model import Alone, KumikiRun, Launcher, Mpirun, Point

APART = Hosts("x", ("a", "b"), ("ssh",), each=Equipment(4, 1 << 30))
TOGETHER = Hosts("x", ("a", "b"), ("enter",))


def point_and_row(launcher: Launcher, ranks: int, threads: int, crowded: bool) -> tuple[Point, ProgramRow]:
    """A point with this launcher, and the row that its program prints on four cores."""
    point = Point("laplace", "laplace.time", "x", "laplace", (), launcher, {}, "s", "lower")
    line = {
        "metric": "laplace.time",
        "implementation": "x",
        "parameters": {"ranks": ranks, "threads": threads},
        "unit": "s",
        "better": "lower",
        "samples": [1.0],
        "oversubscribed": crowded,
    }
    reader = point.reader(4)
    assert reader.take(json.dumps(line))
    (row,) = reader.rows(Ended(0, 1.0, (), 0))
    return point, row


@pytest.mark.parametrize(
    ("launcher", "threads", "said", "found"),
    [
        (Alone(4), 4, False, False),
        (Alone(8), 8, False, True),
        (Alone(), 8, False, True),
        (Mpirun(mpi.ALL[0], 8, hosts=APART), 1, True, False),
        (Mpirun(mpi.ALL[0], 8, hosts=TOGETHER), 1, False, True),
        (KumikiRun(8), 1, False, False),
        (KumikiRun(2), 1, True, True),
    ],
)
def test_the_cores_of_the_job_decide_which_rows_have_more_threads(
    launcher: Launcher, threads: int, said: bool, found: bool
) -> None:
    """Four cores, of which a program that `kumiki-run` does not start may count the processors: those have eight."""
    _, row = point_and_row(launcher, launcher.ranks, threads, said)
    assert row.oversubscribed is found


@pytest.mark.parametrize(
    ("launcher", "ranks", "found"),
    [
        (Mpirun(mpi.ALL[1], 2), 1, True),
        (Mpirun(mpi.ALL[1], 2), 2, False),
        (Mpirun(mpi.ALL[1], 1), 1, False),
        (KumikiRun(2), 1, False),
    ],
)
def test_ranks_of_an_mpi_that_do_not_find_each_other_are_no_figures(
    launcher: Launcher, ranks: int, found: bool
) -> None:
    point, row = point_and_row(launcher, ranks, 1, False)
    sentence = point.absence_told_by([row], ())
    assert (sentence is not None) is found
    said = point.absence_told_by([], ["remote-memory-mpich: this run has 1 ranks and needs 2"])
    assert (said is not None) is (isinstance(launcher, Mpirun) and launcher.ranks > 1)
    assert sentence is None or sentence.startswith("The 2 processes that MPICH starts do not find each other")
