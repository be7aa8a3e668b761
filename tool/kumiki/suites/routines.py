"""The send routines (JAMSTEC paper, section 2): which routine is the fastest for which message size."""

from __future__ import annotations

from kumiki.suites.model import Grid, KumikiRun, Launcher, Mpirun, Point, Suite, with_mpi

RANKS = 4
SIZES = 16
"""1 KiB to 32 MiB by factors of 2"""
QUICK_SIZES = 9
OUR_ROUTINES = 4
"""Including the bound."""
MPI_ROUTINES = 6
LARGEST = {SIZES: "32MiB", QUICK_SIZES: "256KiB"}
TIMED_CALLS, QUICK_TIMED_CALLS = 100, 30
"""The fixed number of calls at each size, after 10 warm-up calls; the paper also used 100."""

LEAST_SECONDS = {SIZES: 5.0, QUICK_SIZES: 1.0}
"""The seconds of the fixed number of timed calls, for each routine."""


def _points(grid: Grid) -> list[Point]:
    points = []
    for ranks in (count for count in grid.ranks or (RANKS,) if count > 1):
        hosts = grid.hosts.for_ranks(ranks) if grid.hosts else None
        points.append(_point(grid, KumikiRun(ranks, hosts=hosts), "kumiki", "routines", OUR_ROUTINES))
        for peer in grid.mpis:
            launcher = Mpirun(peer, ranks, hosts=hosts)
            points.append(_point(grid, launcher, peer.name, f"routines-{peer.name}", MPI_ROUTINES))
    return points


def _point(grid: Grid, launcher: Launcher, implementation: str, program: str, routines: int) -> Point:
    sizes = QUICK_SIZES if grid.quick else SIZES
    return Point(
        suite="mpi",
        metric="routine.bandwidth",
        implementation=implementation,
        program=program,
        arguments=(
            *("--largest", LARGEST[sizes]),
            *("--timed-calls", str(QUICK_TIMED_CALLS if grid.quick else TIMED_CALLS)),
        ),
        launcher=launcher,
        parameters={"ranks": launcher.ranks, "routine": "send", "scope": "all"},
        unit="GB/s",
        better="higher",
        seconds=0.2,
        figures=routines * sizes,
        setup_seconds=LEAST_SECONDS[sizes] * routines,
    )


SUITE = Suite(
    name="mpi",
    title="Send routines",
    sentence="Each send routine of Kumiki and of each MPI, along a chain of 4 ranks: bandwidth by size.",
    headline=("routine.bandwidth",),
    programs=with_mpi("routines"),
    build=_points,
    build_over_hosts=_points,
    seconds=150,
    quick_seconds=30,
    by_name=True,
)
