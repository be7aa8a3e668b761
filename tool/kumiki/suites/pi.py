"""Pi by random points and by integration."""

from __future__ import annotations

from kumiki.suites.described import JAMSTEC, Described, Paper
from kumiki.suites.kernel import Workload
from kumiki.suites.model import Grid, Point, Suite, with_mpi

COUNT = 2**31 - 1
"""Trials or intervals: the paper's."""
QUICK_COUNT = 2**27 - 1
ONE_CORE_POINTS_PER_SECOND = {"monte-carlo": 650e6, "integration": 1300e6}


def _workload(grid: Grid, method: str) -> Workload:
    count = QUICK_COUNT if grid.quick else COUNT
    return Workload(
        suite="pi",
        program="pi",
        metric="pi.time",
        arguments=("--method", method, "--count", str(count)),
        parameters={"method": method, "count": count},
        one_core_seconds=count / ONE_CORE_POINTS_PER_SECOND[method],
        in_messages=True,
    )


def _points(grid: Grid) -> list[Point]:
    return [*_workload(grid, "monte-carlo").everywhere(grid), *_workload(grid, "integration").as_series(grid)]


def _over_hosts(grid: Grid) -> list[Point]:
    return _workload(grid, "monte-carlo").over_hosts(grid)


SUITE = Suite(
    name="pi",
    title="Pi",
    sentence="Only computation and one sum at the end: the best gain from processors that a machine allows.",
    headline=("pi.time", "pi.rate"),
    programs=with_mpi("pi"),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=290,
    quick_seconds=16,
    by_name=True,
    described=Described(
        "Pi",
        "Pi by random points and by integration: only computation, and one sum at the end. It moves no data, "
        "so ideal speed-up is its bound.",
        ("count", 2**31 - 1),
        Paper(JAMSTEC, speedup="Figures 10 to 12", efficiency="Figures 13 to 15"),
    ),
)
