"""Two-sided messages between two ranks, of one host or of two."""

from __future__ import annotations

from kumiki import mpi
from kumiki.peer import UCX, Peer
from kumiki.suites import fragments
from kumiki.suites.model import Grid, KumikiRun, Launcher, Mpirun, Point, Program, Suite, with_mpi

RANKS = 2
SIZES = 14
"""1 byte to 64 MiB by factors of 4"""
OUR_FIGURES = 3 + 2 * SIZES
"""latency, rate and interleaving; each size from own memory and from regions"""
MPI_FIGURES = 3 + SIZES
UCX_FIGURES = 2 + SIZES


def _points(grid: Grid) -> list[Point]:
    two = grid.hosts.for_ranks(RANKS) if grid.hosts is not None else None
    run = KumikiRun(RANKS, hosts=two)
    long = fragments.message_bytes(two is not None, grid.quick)
    lengths = (fragments.OWN_RULE, *fragments.FEW_LENGTHS)
    return [
        _point(grid, run, "kumiki", "message", OUR_FIGURES),
        *(
            _point(grid, Mpirun(peer, RANKS, hosts=two), peer.name, f"message-{peer.name}", MPI_FIGURES)
            for peer in mpi.ALL
        ),
        _point(grid, run, UCX.name, "message-ucx", UCX_FIGURES, UCX),
        *(fragments.point("message", length, long, two, _seconds(grid)) for length in lengths),
    ]


def _seconds(grid: Grid) -> float:
    return 0.03 if grid.quick else 0.2


def _point(
    grid: Grid, launcher: Launcher, implementation: str, program: str, figures: int, built_on: Peer | None = None
) -> Point:
    return Point(
        suite="message",
        metric="message.latency",
        implementation=implementation,
        program=program,
        arguments=(),
        launcher=launcher,
        parameters={"ranks": RANKS, "bytes": 8},
        unit="us",
        better="lower",
        seconds=_seconds(grid),
        figures=figures,
        built_on=built_on,
    )


SUITE = Suite(
    name="message",
    title="Messages",
    sentence="Send and receive between two ranks: latency, rate and bandwidth by size, beside MPI and UCX.",
    headline=("message.latency", "message.rate", "message.bandwidth", "message.interleaving", fragments.METRIC),
    programs=(*with_mpi("message"), Program("message-ucx", UCX), Program("fragment")),
    build=_points,
    build_over_hosts=_points,
    seconds=28,
    quick_seconds=10,
    by_name=True,
)
