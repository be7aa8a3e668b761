"""Remote memory between two ranks."""

from __future__ import annotations

from kumiki.suites import beside
from kumiki.suites.model import Grid, KumikiRun, Point, Suite

RANKS = 2
OUR_FIGURES = 53
"""eleven figures of small transfers, and put, get and memcpy at each of 14 sizes"""
MPI_FIGURES = 45
"""put in two kinds of window, of which the better one's row is kept, and send: latencies, and transfers of each size"""
UCX_FIGURES = 15
"""the latency of put, and put at each size"""


def _points(grid: Grid) -> list[Point]:
    own = Point(
        suite="remote-memory",
        metric="put.latency",
        implementation="kumiki",
        program="remote-memory",
        arguments=(),
        launcher=KumikiRun(RANKS),
        parameters={"ranks": RANKS, "bytes": 8},
        unit="us",
        better="lower",
        seconds=0.02 if grid.quick else 0.2,
        figures=OUR_FIGURES,
    )
    return [own, *beside.peers(grid, own, MPI_FIGURES, UCX_FIGURES)]


SUITE = Suite(
    name="remote-memory",
    title="Remote memory",
    sentence="Latency and bandwidth between two ranks by size, beside the machine's own bounds and MPI.",
    headline=(
        "put.latency",
        "get.latency",
        "atomic.latency",
        "active_message.latency",
        "send.latency",
        "bound.cacheline_pingpong",
        "put.bandwidth",
        "get.bandwidth",
        "send.bandwidth",
        "bound.memcpy",
    ),
    programs=beside.programs("remote-memory"),
    build=_points,
    seconds=34,
    quick_seconds=10,
)
