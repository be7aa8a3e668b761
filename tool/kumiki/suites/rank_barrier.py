"""Barriers between ranks."""

from __future__ import annotations

from kumiki.suites.model import Grid, KumikiRun, Launcher, Mpirun, Point, Suite, with_mpi

OUR_FIGURES = 4
"""plain, split-phase, the paper's shuffle-exchange, and the bare flags that bound them"""
BARE_RANKS_PER_CORE = 2
"""The largest number of ranks with which the program measures bare flags, which never yield."""
GROWTH = (2, 4, 8, 16)
"""Numbers of ranks that show how the cost of a barrier grows (the paper's nodes, and twice as many)."""
MPI_FIGURES = 2
"""plain and split-phase"""


def _points(grid: Grid) -> list[Point]:
    """Up to as many ranks as cores, and the oversubscribed column; if named, up to 16 ranks on any number of cores."""
    counts = [ranks for ranks in grid.rank_counts(oversubscribed=True) if ranks > 1]
    if grid.quick and not grid.ranks:
        counts = [ranks for ranks in counts if ranks >= grid.cores]
    if grid.in_full and not grid.ranks:
        counts = sorted({*counts, *GROWTH})
    ours = [
        _point(
            grid, KumikiRun(ranks), "kumiki", "rank-barrier", OUR_FIGURES - (ranks > BARE_RANKS_PER_CORE * grid.cores)
        )
        for ranks in counts
    ]
    peers = [
        _point(grid, Mpirun(peer, ranks), peer.name, f"rank-barrier-{peer.name}", MPI_FIGURES)
        for peer in grid.mpis
        for ranks in counts
    ]
    return ours + peers


def _over_hosts(grid: Grid) -> list[Point]:
    """2, 4, 8 and 16 ranks, as evenly as possible over as many hosts as there are.

    MPI's ranks only spin: with more ranks than twice the cores, one barrier takes so long that it tells nothing.
    """
    assert grid.hosts is not None
    hosts, few = grid.hosts, max(len(grid.hosts), 2 * grid.all_cores)
    usual = (len(hosts),) if grid.quick else GROWTH
    counts = [ranks for ranks in grid.ranks or usual if ranks > 1]
    ours = [
        _point(grid, KumikiRun(ranks, hosts=hosts.for_ranks(ranks)), "kumiki", "rank-barrier", OUR_FIGURES - 1)
        for ranks in counts
    ]
    peers = [
        _point(
            grid, Mpirun(peer, ranks, hosts=hosts.for_ranks(ranks)), peer.name, f"rank-barrier-{peer.name}", MPI_FIGURES
        )
        for peer in grid.mpis
        for ranks in counts
        if grid.ranks or ranks <= few
    ]
    return ours + peers


def _point(grid: Grid, launcher: Launcher, implementation: str, program: str, figures: int) -> Point:
    return Point(
        suite="rank-barrier",
        metric="rank_barrier.time",
        implementation=implementation,
        program=program,
        arguments=(),
        launcher=launcher,
        parameters={
            "ranks": launcher.ranks,
            "form": "plain",
            "fabric": "network" if launcher.hosts else "shm",
        },
        unit="us",
        better="lower",
        seconds=0.1 if grid.quick else 0.4,
        figures=figures,
    )


SUITE = Suite(
    name="rank-barrier",
    title="Rank barrier",
    sentence="The cost of a barrier between ranks, also with more ranks than cores, beside MPI_Barrier.",
    headline=("rank_barrier.time", "rank_barrier.hidden"),
    programs=with_mpi("rank-barrier"),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=16,
    quick_seconds=7,
)
