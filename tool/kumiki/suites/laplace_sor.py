"""Laplace's equation by red-black over-relaxation."""

from __future__ import annotations

from kumiki.suites.kernel import Workload
from kumiki.suites.model import Grid, Point, Suite, with_mpi

ONE_CORE_SECONDS = {129: 0.01, 257: 0.045, 513: 0.35, 1025: 4.0}
"""By points along an edge: the whole solution."""


def _workload(size: int) -> Workload:
    return Workload(
        suite="laplace-sor",
        program="laplace-sor",
        metric="laplace_sor.time",
        arguments=("--size", str(size)),
        parameters={"size": size},
        one_core_seconds=ONE_CORE_SECONDS[size],
        setup_seconds=0.1,
        in_messages=True,
    )


def _points(grid: Grid) -> list[Point]:
    if grid.quick:
        return _workload(257).everywhere(grid)
    others = [point for size in (129, 257, 1025) for point in _workload(size).where_it_tells(grid)]
    return [*_workload(513).everywhere(grid), *others]


def _over_hosts(grid: Grid) -> list[Point]:
    return _workload(257 if grid.quick else 513).over_hosts(grid)


SUITE = Suite(
    name="laplace-sor",
    title="Laplace (red-black SOR)",
    sentence="Half the points at a time: edges half as long and twice as many as in a Jacobi sweep.",
    headline=("laplace_sor.time", "laplace_sor.rate"),
    programs=with_mpi("laplace-sor"),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=140,
    quick_seconds=10,
    by_name=True,
)
