"""Diffusion by alternating directions."""

from __future__ import annotations

from dataclasses import replace

from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Suite, with_mpi

STEPS = {129: 500, 513: 100, 1025: 20, 2049: 10}
"""By points along an edge: as many as take one core some tenths of a second or less."""
ONE_CORE_POINTS_PER_SECOND = {129: 450e6, 513: 300e6, 1025: 150e6, 2049: 120e6}


def _workload(size: int) -> Workload:
    return Workload(
        suite="diffusion",
        program="diffusion",
        metric="diffusion.time",
        arguments=("--size", str(size), "--steps", str(STEPS[size])),
        parameters={"size": size, "steps": STEPS[size]},
        one_core_seconds=STEPS[size] * size**2 / ONE_CORE_POINTS_PER_SECOND[size],
        setup_seconds=0.2,
        in_messages=True,
    )


def _by_jacobi() -> Workload:
    """At the size that takes tenths of a second: the number of iterations grows with the square of the size."""
    return replace(_workload(129).variant("method", "jacobi", "--method", "jacobi"), one_core_seconds=0.15)


PROBLEMS = Problems(
    _workload(513),
    _workload(513),
    [*(_workload(size) for size in (129, 1025, 2049)), _by_jacobi()],
    in_tiles=_by_jacobi().in_tiles(),
)

SUITE = Suite(
    name="diffusion",
    title="Diffusion (ADI)",
    sentence="Tridiagonal solves along both directions: the grid is transposed between all twice a step.",
    headline=("diffusion.time", "diffusion.rate"),
    programs=with_mpi("diffusion"),
    build=PROBLEMS.everywhere,
    build_over_hosts=PROBLEMS.over_hosts,
    seconds=90,
    quick_seconds=10,
    by_name=True,
)
