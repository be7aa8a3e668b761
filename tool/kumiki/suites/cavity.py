"""Flow in a cavity by the MAC method."""

from __future__ import annotations

from dataclasses import replace

from kumiki.suites import bound
from kumiki.suites.described import JAMSTEC, Described, Paper
from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Grid, Point, Suite, with_mpi

ONE_CORE_SECONDS = {33: 0.015, 65: 0.15, 129: 1.9}
"""One-core seconds from rest to the steady state, by points along an edge."""

SWEEPS = 4
"""Of the pressure in a time step (kernels/cavity/problem.hpp)."""


def _traffic(size: int) -> bound.Traffic:
    """A sweep reads source and weights and changes the pressure; a step changes two velocities, and tentative ones."""
    field = 8 * (size - 1) ** 2
    return bound.Traffic(
        work=(size - 1) ** 2 / 1e6 / SWEEPS, unit="Mcell/s", read=2 * field, update=field + 4 * field // SWEEPS
    )


def _workload(size: int) -> Workload:
    return Workload(
        suite="cavity",
        program="cavity",
        metric="cavity.time",
        arguments=("--size", str(size)),
        parameters={"size": size},
        one_core_seconds=ONE_CORE_SECONDS[size],
        in_messages=True,
        traffic=_traffic(size),
    )


REYNOLDS = {100: 2.5, 400: 5.0, 1000: 10.0}
"""The Reynolds numbers with published velocities, and the seconds that one core takes at the size of the publication,
129.
"""


def _velocities(grid: Grid) -> list[Point]:
    """The velocities on the centre lines, computed on all cores; if these are correct, those of all forms are."""
    return [
        replace(
            Workload(
                suite="cavity",
                program="cavity",
                metric="cavity.velocity",
                arguments=("--size", "129", "--reynolds", str(reynolds), "--velocities"),
                parameters={"size": 129, "reynolds": reynolds},
                one_core_seconds=seconds,
            ).hybrid(grid, (1, grid.cores)),
            unit="1",
            better="higher",
        )
        for reynolds, seconds in REYNOLDS.items()
    ]


def _points(grid: Grid) -> list[Point]:
    return [*PROBLEMS.everywhere(grid), *(() if grid.quick else _velocities(grid))]


PROBLEMS = Problems(_workload(33), _workload(65), [_workload(129)], in_tiles=_workload(65).in_tiles())

SUITE = Suite(
    name="cavity",
    title="Cavity flow (MAC)",
    sentence="A small grid and many short exchanges: whether a machine's latency permits parallel execution at all.",
    headline=("cavity.time", "cavity.rate", "cavity.bound"),
    programs=(*with_mpi("cavity"), bound.PROGRAM),
    build=_points,
    build_over_hosts=PROBLEMS.over_hosts,
    seconds=150,
    quick_seconds=10,
    by_name=True,
    described=Described(
        "Cavity flow",
        "Flow under a moving lid by the MAC method: many short exchanges for the pressure of every time step.",
        ("size", 65),
        Paper(
            JAMSTEC,
            speedup="Figures 28 to 30",
            efficiency="Figures 31 to 33",
            velocities="Ghia, Ghia and Shin, J. Comput. Phys. 48 (1982) 387-411, tables I and II",
        ),
    ),
)
