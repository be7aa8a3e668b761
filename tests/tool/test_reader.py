"""Rows as the tool takes them from a program: whether they had more threads than cores."""

from __future__ import annotations

import json

import pytest
from kumiki.evaluation.process import Ended
from kumiki.hosts import Hosts
from kumiki.hosts.model import Equipment
from kumiki.machine import mpi
from kumiki.suites.model import Alone, KumikiRun, Launcher, Mpirun, Point

APART = Hosts("x", ("a", "b"), ("ssh",), each=Equipment(4, 1 << 30))
TOGETHER = Hosts("x", ("a", "b"), ("enter",))


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
    point = Point("laplace", "laplace.time", "x", "laplace", (), launcher, {}, "s", "lower")
    line = {
        "metric": "laplace.time",
        "implementation": "x",
        "parameters": {"ranks": launcher.ranks, "threads": threads},
        "unit": "s",
        "better": "lower",
        "samples": [1.0],
        "oversubscribed": said,
    }
    reader = point.reader(4)
    assert reader.take(json.dumps(line))
    (row,) = reader.rows(Ended(0, 1.0, (), 0))
    assert row.oversubscribed is found
