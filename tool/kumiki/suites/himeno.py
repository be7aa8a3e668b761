"""The Himeno benchmark."""

from __future__ import annotations

from dataclasses import replace

from kumiki import mpi
from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Grid, Mpirun, Point, Suite, with_mpi

SWEEPS = {"SS": 500, "S": 50, "M": 10, "L": 2}
"""As many as take one core a quarter of a second or less."""
ONE_CORE_SWEEP_SECONDS = {"SS": 0.00015, "S": 0.003, "M": 0.027, "L": 0.22}
SETUP_SECONDS = {"SS": 0.2, "S": 0.3, "M": 1.0, "L": 5.0}
"""Filling the arrays, and the sequential run that a result is compared with."""


def _workload(size: str) -> Workload:
    return Workload(
        suite="himeno",
        program="himeno",
        metric="himeno.time",
        arguments=("--size", size, "--sweeps", str(SWEEPS[size])),
        parameters={"size": size, "sweeps": SWEEPS[size]},
        one_core_seconds=SWEEPS[size] * ONE_CORE_SWEEP_SECONDS[size],
        setup_seconds=SETUP_SECONDS[size],
        in_messages=True,
    )


PROBLEMS = Problems(
    _workload("S"),
    _workload("M"),
    [_workload(size) for size in ("SS", "S", "L")],
    in_tiles=_workload("M").in_tiles("pencils"),
)


def _by_sendrecv(grid: Grid, workload: Workload) -> list[Point]:
    """The paper's own form, from one process on: it compares that with the sequential program."""
    return [
        workload.point(grid, Mpirun(peer, ranks), "sendrecv", ("--sendrecv",), implementation=peer.name)
        for peer in mpi.ALL
        for ranks in grid.rank_counts()
    ]


def _bound(grid: Grid, workload: Workload) -> list[Point]:
    """What memory allows at most, by threads."""
    found = []
    for threads in grid.thread_counts(oversubscribed=False):
        point = workload.openmp(grid, threads)
        parameters = {**point.parameters, "form": "bound"}
        bound = replace(point, metric="himeno.bound", implementation="bound", parameters=parameters)
        found.append(replace(bound, arguments=(*point.arguments, "--bound"), unit="MFLOPS", better="higher"))
    return found


def _points(grid: Grid) -> list[Point]:
    bounded = [PROBLEMS.quick] if grid.quick else [PROBLEMS.usual, *PROBLEMS.others]
    points = [*PROBLEMS.everywhere(grid), *(point for workload in bounded for point in _bound(grid, workload))]
    if not grid.quick:
        points += [point for workload in bounded for point in _by_sendrecv(grid, workload)]
    return points


SUITE = Suite(
    name="himeno",
    title="Himeno benchmark",
    sentence="A stencil of 19 points with 12 coefficients each: what the memory bus carries, in MFLOPS.",
    headline=("himeno.time", "himeno.rate"),
    programs=with_mpi("himeno"),
    build=_points,
    build_over_hosts=PROBLEMS.over_hosts,
    seconds=240,
    quick_seconds=14,
    by_name=True,
)
