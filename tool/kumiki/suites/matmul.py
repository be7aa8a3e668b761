"""The matrix product."""

from __future__ import annotations

from dataclasses import replace

from kumiki.peer import BLAS
from kumiki.suites.kernel import Workload
from kumiki.suites.model import Alone, Grid, Point, Suite, with_mpi

SIZE = 1800


WORKLOAD = Workload(
    suite="matmul",
    program="matmul",
    metric="matmul.time",
    arguments=("--size", str(SIZE)),
    parameters={"size": SIZE},
    one_core_seconds=0.18,
    built_on=BLAS,
)


def _points(grid: Grid) -> list[Point]:
    bounds = [
        replace(
            WORKLOAD.point(grid, Alone(threads), "bound", ("--threads", str(threads)), implementation="bound"),
            metric="bound.dgemm",
            parameters={"size": SIZE, "threads": threads},
            unit="GFLOP/s",
            better="higher",
        )
        for threads in grid.thread_counts(oversubscribed=False)
    ]
    fetched = WORKLOAD.variant("fetch", "get", "--fetch", "get")
    return [*WORKLOAD.everywhere(grid), *fetched.between_ranks(grid), *bounds]


def _over_hosts(grid: Grid) -> list[Point]:
    return WORKLOAD.over_hosts(grid)


SUITE = Suite(
    name="matmul",
    title="Matrix product",
    sentence="Much computation on little data: how near the machine comes to the peak of its own matrix library.",
    headline=("matmul.time", "matmul.rate", "bound.dgemm"),
    programs=with_mpi("matmul", BLAS),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=24,
    quick_seconds=8,
)
