"""Laplace's equation by Jacobi iteration."""

from __future__ import annotations

from kumiki.suites import bound
from kumiki.suites.described import Described, Paper
from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Grid, Point, Suite, with_mpi

SIZE = 640
ITERATIONS, QUICK_ITERATIONS = 500, 100
ONE_CORE_SECONDS_PER_ITERATION = 0.24e-3


def _workload(iterations: int) -> Workload:
    return Workload(
        suite="laplace",
        program="laplace",
        metric="laplace.time",
        arguments=("--size", str(SIZE), "--iterations", str(iterations)),
        parameters={"size": SIZE, "iterations": iterations},
        one_core_seconds=iterations * ONE_CORE_SECONDS_PER_ITERATION,
        # A step reads every cell and gives every cell a new value, at best in place of the old one.
        traffic=bound.Traffic(work=SIZE**2 / 1e6, unit="Mcell/s", update=8 * SIZE**2),
    )


PROBLEMS = Problems(_workload(QUICK_ITERATIONS), _workload(ITERATIONS))


def _overlapped(grid: Grid) -> Workload:
    return PROBLEMS.main(grid).variant("overlap", "yes", "--overlap")


def _points(grid: Grid) -> list[Point]:
    return [*PROBLEMS.everywhere(grid), *_overlapped(grid).between_ranks(grid)]


def _over_hosts(grid: Grid) -> list[Point]:
    overlapped = _overlapped(grid)
    return [*PROBLEMS.over_hosts(grid), *(overlapped.hybrid(grid, pair) for pair in grid.pairs_over_hosts())]


SUITE = Suite(
    name="laplace",
    title="Laplace (Jacobi)",
    sentence="A stencil: neighbours exchange borders in every iteration, with little computation in between.",
    headline=("laplace.time", "laplace.rate", "laplace.bound"),
    programs=(*with_mpi("laplace"), bound.PROGRAM),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=20,
    quick_seconds=6,
    described=Described(
        "Laplace",
        "A five-point stencil: neighbours exchange their borders in every iteration.",
        ("size", SIZE),
        Paper(time="Figures 6 and 7", speedup="Figures 8 and 9", placement="Figures 2 and 3"),
    ),
)
