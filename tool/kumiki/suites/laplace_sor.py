"""Laplace's equation by red-black over-relaxation."""

from __future__ import annotations

from kumiki.suites import bound
from kumiki.suites.described import JAMSTEC, Described, Paper
from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Suite, with_mpi

ONE_CORE_SECONDS = {129: 0.01, 257: 0.045, 513: 0.35, 1025: 4.0, 2049: 40.0}
"""By points along an edge, all those of the paper: the whole solution."""


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
        # A sweep reads every point and changes every point, at best both colours in one walk.
        traffic=bound.Traffic(work=(size - 2) ** 2 / 1e6, unit="Mpoint/s", update=8 * (size - 2) ** 2),
    )


PROBLEMS = Problems(
    _workload(257),
    _workload(513),
    [_workload(size) for size in (129, 257, 1025)],
    in_tiles=_workload(513).in_tiles(),
    long=[_workload(2049)],
)

SUITE = Suite(
    name="laplace-sor",
    title="Laplace (red-black SOR)",
    sentence="Half of the points at a time: twice as many edges, each half as long, as in a Jacobi sweep.",
    headline=("laplace_sor.time", "laplace_sor.rate", "laplace_sor.bound"),
    programs=(*with_mpi("laplace-sor"), bound.PROGRAM),
    build=PROBLEMS.everywhere,
    build_over_hosts=PROBLEMS.over_hosts,
    seconds=1010,
    quick_seconds=10,
    by_name=True,
    described=Described(
        "Laplace by over-relaxation",
        "Laplace's equation by red-black over-relaxation: two exchanges per sweep, each of half the points of an edge.",
        ("size", 513),
        Paper(JAMSTEC, speedup="Figures 22 to 24", efficiency="Figures 25 to 27"),
    ),
)
