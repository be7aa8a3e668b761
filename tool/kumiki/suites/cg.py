"""NPB's conjugate gradient."""

from __future__ import annotations

from kumiki.suites.kernel import Workload
from kumiki.suites.model import Grid, Point, Suite, with_mpi

ONE_CORE_SECONDS = {"W": 0.2, "A": 0.75}


def _workload(grid: Grid) -> Workload:
    size = "W" if grid.quick else "A"
    return Workload(
        suite="cg",
        program="cg",
        metric="cg.time",
        arguments=("--class", size),
        parameters={"class": size},
        one_core_seconds=ONE_CORE_SECONDS[size],
    )


def _points(grid: Grid) -> list[Point]:
    return _workload(grid).everywhere(grid)


def _over_hosts(grid: Grid) -> list[Point]:
    return _workload(grid).over_hosts(grid)


SUITE = Suite(
    name="cg",
    title="Conjugate gradient (NPB CG)",
    sentence="Sparse and irregular: latency of memory within a rank, reductions and transposes between ranks.",
    headline=("cg.time", "cg.rate"),
    programs=with_mpi("cg"),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=38,
    quick_seconds=7,
)
