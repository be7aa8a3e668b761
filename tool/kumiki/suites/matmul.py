"""The matrix product."""

from __future__ import annotations

from dataclasses import replace

from kumiki.machine.peer import BLAS
from kumiki.suites.described import Bound, Described, Paper
from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Alone, Grid, Point, Suite, with_mpi

SIZE, QUICK_SIZE = 1800, 900
ONE_CORE_FLOPS = 65e9
FUNNELLED_THREADS = (1, 2, 4)
"""Threads of each rank, as in the paper."""


def _workload(size: int) -> Workload:
    return Workload(
        suite="matmul",
        program="matmul",
        metric="matmul.time",
        arguments=("--size", str(size)),
        parameters={"size": size},
        one_core_seconds=2 * size**3 / ONE_CORE_FLOPS,
        built_on=BLAS,
    )


PROBLEMS = Problems(_workload(QUICK_SIZE), _workload(SIZE))


def _fetched(grid: Grid) -> Workload:
    return PROBLEMS.main(grid).variant("fetch", "get", "--fetch", "get")


def _points(grid: Grid) -> list[Point]:
    workload = PROBLEMS.main(grid)
    bounds = [
        replace(
            workload.point(grid, Alone(threads), "bound", ("--threads", str(threads)), implementation="bound"),
            metric="bound.dgemm",
            parameters={**workload.parameters, "threads": threads},
            unit="GFLOP/s",
            better="higher",
        )
        for threads in grid.thread_counts(oversubscribed=False)
    ]
    return [*PROBLEMS.everywhere(grid), *_fetched(grid).between_ranks(grid), *bounds, *_by_threads(grid, 2)]


def _over_hosts(grid: Grid) -> list[Point]:
    assert grid.hosts is not None
    return [*PROBLEMS.over_hosts(grid), *_by_threads(grid, len(grid.hosts))]


def _by_threads(grid: Grid, ranks: int) -> list[Point]:
    """Only the master of a rank fetches: does its time depend on the other threads (F07)? Measured on request.

    As in the paper, they wait meanwhile. All of them compute, even if there are more than cores: with fewer there would
    be nothing to see.
    """
    if not grid.in_full or grid.ranks or grid.threads:
        return []
    before = PROBLEMS.main(grid).variant("fetch", "before", "--fetch", "before")
    everyone = before.variant("all_threads", "yes", "--all-threads")
    return [everyone.hybrid(grid, (ranks, threads)) for threads in FUNNELLED_THREADS]


DGEMM = Bound(
    "bound.dgemm",
    "DGEMM of the library",
    "DGEMM of the library on as many threads",
    "the library's product limits it",
    "moving the matrices or waiting limits it, not the library's product",
)

SUITE = Suite(
    name="matmul",
    title="Matrix product",
    sentence="Much computation on little data: how close the machine comes to the peak of its own matrix library.",
    headline=("matmul.time", "matmul.rate", "bound.dgemm"),
    programs=with_mpi("matmul", BLAS),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=30,
    quick_seconds=8,
    described=Described(
        "Matrix product",
        "Dense matrix product: much computation on little data, with the machine's own matrix library.",
        ("size", SIZE),
        Paper(speedup="Figure 10", settings="Table 5"),
        bound=DGEMM,
        by_rate=True,
    ),
)
