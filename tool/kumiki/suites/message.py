"""Two-sided messages between two ranks, of one host or of two."""

from __future__ import annotations

from kumiki.suites import beside, fragments
from kumiki.suites.model import Grid, KumikiRun, Point, Program, Suite

RANKS = 2
SIZES = 14
"""1 byte to 64 MiB by factors of 4"""
OUR_FIGURES = 3 + 2 * SIZES
"""latency, rate and interleaving; each size from own memory and from regions"""
MPI_FIGURES = 3 + SIZES
UCX_FIGURES = 2 + SIZES


def _points(grid: Grid) -> list[Point]:
    two = grid.hosts.for_ranks(RANKS) if grid.hosts is not None else None
    seconds = 0.03 if grid.quick else 0.2
    own = Point(
        suite="message",
        metric="message.latency",
        implementation="kumiki",
        program="message",
        arguments=(),
        launcher=KumikiRun(RANKS, hosts=two),
        parameters={"ranks": RANKS, "bytes": 8},
        unit="us",
        better="lower",
        seconds=seconds,
        figures=OUR_FIGURES,
    )
    long = fragments.message_bytes(two is not None, grid.quick)
    lengths = (fragments.OWN_RULE, *fragments.within(fragments.FEW_LENGTHS, two is not None))
    return [
        own,
        *beside.peers(own, MPI_FIGURES, UCX_FIGURES),
        *(fragments.point("message", length, long, two, seconds) for length in lengths),
    ]


SUITE = Suite(
    name="message",
    title="Messages",
    sentence="Send and receive between two ranks: latency, rate and bandwidth by size, beside MPI and UCX.",
    headline=("message.latency", "message.rate", "message.bandwidth", "message.interleaving", fragments.METRIC),
    programs=(*beside.programs("message"), Program("fragment")),
    build=_points,
    build_over_hosts=_points,
    seconds=28,
    quick_seconds=10,
    by_name=True,
)
