"""The routines that send a message (JAMSTEC paper, section 2): which moves a message of which size best."""

from __future__ import annotations

from kumiki import mpi
from kumiki.suites.model import Grid, Mpirun, Point, Program, Suite

RANKS = 4
SIZES = 16
"""1 KiB to 32 MiB by factors of 2"""
QUICK_SIZES = 9
ROUTINES = 6
LARGEST = {SIZES: "32MiB", QUICK_SIZES: "256KiB"}


def _points(grid: Grid) -> list[Point]:
    ranks = tuple(count for count in grid.ranks or (RANKS,) if count > 1)
    return [_point(grid, peer, count) for peer in mpi.ALL for count in ranks]


def _point(grid: Grid, peer: mpi.Mpi, ranks: int) -> Point:
    sizes = QUICK_SIZES if grid.quick else SIZES
    hosts = grid.hosts.for_ranks(ranks) if grid.hosts else None
    return Point(
        suite="mpi",
        metric="routine.bandwidth",
        implementation=peer.name,
        program=f"routines-{peer.name}",
        arguments=("--largest", LARGEST[sizes]),
        launcher=Mpirun(peer, ranks, hosts=hosts),
        parameters={"ranks": ranks, "routine": "send", "scope": "all"},
        unit="GB/s",
        better="higher",
        seconds=0.2,
        figures=ROUTINES * sizes,
        setup_seconds=1.0,
    )


SUITE = Suite(
    name="mpi",
    title="Routines that send",
    sentence="Each routine of each MPI that sends a message, along a chain of 4 ranks: bandwidth by size.",
    headline=("routine.bandwidth",),
    programs=tuple(Program(f"routines-{peer.name}", peer) for peer in mpi.ALL),
    build=_points,
    build_over_hosts=_points,
    seconds=60,
    quick_seconds=12,
    by_name=True,
)
