"""Two-sided messages between two ranks, on one host or on two."""

from __future__ import annotations

from kumiki.suites import beside, fragments
from kumiki.suites.model import Grid, KumikiRun, Point, Program, Suite

RANKS = 2
SIZES = 14
"""1 byte to 64 MiB by factors of 4"""
ROUND_TRIPS = 13
"""4 bytes to 64 MiB by factors of 4"""
OUR_FIGURES = 5 + 2 * SIZES + 2 * ROUND_TRIPS
"""latency, rate, interleaving, two of independence; each size from own memory and from regions; round trips, twice"""
MPI_FIGURES = 5 + SIZES + ROUND_TRIPS
UCX_FIGURES = 2 + SIZES + ROUND_TRIPS


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
        *beside.peers(grid, own, MPI_FIGURES, UCX_FIGURES),
        *(fragments.point("message", length, long, two, seconds / 2, fragments.SMALLEST) for length in lengths),
    ]


SUITE = Suite(
    name="message",
    title="Messages",
    sentence="Send and receive between two ranks: latency, rate and bandwidth by size, beside MPI and UCX.",
    headline=(
        "message.latency",
        "message.round_trip",
        "message.rate",
        "message.bandwidth",
        "message.interleaving",
        "message.independent",
        fragments.METRIC,
    ),
    programs=(*beside.programs("message"), Program("fragment")),
    build=_points,
    build_over_hosts=_points,
    seconds=50,
    quick_seconds=14,
    by_name=True,
)
