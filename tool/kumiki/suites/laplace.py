"""Laplace's equation by Jacobi iteration."""

from __future__ import annotations

from kumiki.suites.kernel import Workload
from kumiki.suites.model import Grid, Point, Suite, with_mpi

SIZE = 640
ITERATIONS = 500


def _points(grid: Grid) -> list[Point]:
    workload = Workload(
        suite="laplace",
        program="laplace",
        metric="laplace.time",
        arguments=("--size", str(SIZE), "--iterations", str(ITERATIONS)),
        parameters={"size": SIZE, "iterations": ITERATIONS},
        one_core_seconds=0.12,
    )
    overlapped = workload.variant("overlap", "yes", "--overlap")
    return [*workload.everywhere(grid), *overlapped.between_ranks(grid)]


SUITE = Suite(
    name="laplace",
    title="Laplace (Jacobi)",
    sentence="A stencil: neighbours exchange borders every iteration, and little is computed between the exchanges.",
    headline=("laplace.time", "laplace.rate"),
    programs=with_mpi("laplace"),
    build=_points,
    seconds=20,
    quick_seconds=6,
)
