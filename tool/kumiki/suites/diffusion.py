"""Diffusion by alternating directions."""

from __future__ import annotations

from dataclasses import replace

from kumiki.suites import bound
from kumiki.suites.described import JAMSTEC, Described, Paper
from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Suite, with_mpi

STEPS = {17: 5000, 129: 500, 257: 300, 513: 100, 1025: 20, 2049: 10}
"""By points along an edge, for all sizes of the paper: the number of steps that takes one core some tenths of a second
or less.
"""
ONE_CORE_POINTS_PER_SECOND = {17: 450e6, 129: 450e6, 257: 400e6, 513: 300e6, 1025: 150e6, 2049: 120e6}


def workload(size: int, steps: int = 0) -> Workload:
    """One of the paper's sizes; 0 steps: as many as in its own suite."""
    steps = steps or STEPS[size]
    return Workload(
        suite="diffusion",
        program="diffusion",
        metric="diffusion.time",
        arguments=("--size", str(size), "--steps", str(steps)),
        parameters={"size": size, "steps": steps},
        one_core_seconds=steps * size**2 / ONE_CORE_POINTS_PER_SECOND[size],
        setup_seconds=0.2,
        in_messages=True,
        most_workers=size - 2,
        # Half a step reads the grid and writes it transposed; then it solves in place.
        traffic=bound.Traffic(
            work=(size - 2) ** 2 / 2e6, unit="Mpoint/s", read=8 * (size - 2) ** 2, update=8 * (size - 2) ** 2
        ),
    )


JACOBI_ONE_CORE_SECONDS = {17: 0.01, 129: 0.15, 257: 2.0}
"""The paper's sizes on its small machines: the number of iterations grows with the square of the size."""


def _by_jacobi(size: int) -> Workload:
    by_jacobi = workload(size).variant("method", "jacobi", "--method", "jacobi")
    # The program itself determines how often it walks over the grid, which stays in a cache at these sizes.
    return replace(by_jacobi, one_core_seconds=JACOBI_ONE_CORE_SECONDS[size], traffic=None)


PROBLEMS = Problems(
    workload(513),
    workload(513),
    [
        *(workload(size) for size in STEPS if size != 513),
        *(_by_jacobi(size) for size in JACOBI_ONE_CORE_SECONDS),
    ],
    in_tiles=_by_jacobi(129).in_tiles(),
)

SUITE = Suite(
    name="diffusion",
    title="Diffusion (ADI)",
    sentence="Tridiagonal solves in both directions: the grid is transposed between all ranks twice per step.",
    headline=("diffusion.time", "diffusion.rate", "diffusion.bound"),
    programs=(*with_mpi("diffusion"), bound.PROGRAM),
    build=PROBLEMS.everywhere,
    build_over_hosts=PROBLEMS.over_hosts,
    seconds=180,
    quick_seconds=10,
    by_name=True,
    described=Described(
        "Diffusion",
        "Diffusion by alternating directions: tridiagonal solves, and a grid that is transposed between all ranks.",
        ("size", 513),
        Paper(JAMSTEC, speedup="Figures 16 to 18", efficiency="Figures 19 to 21"),
    ),
)
