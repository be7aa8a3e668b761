"""The network between hosts."""

from __future__ import annotations

from dataclasses import replace

from kumiki.suites import beside
from kumiki.suites.model import Grid, KumikiRun, Point, Suite

SIZES = 9
"""1 KiB to 64 MiB by factors of 4"""
OUR_FIGURES = 8 + 2 * SIZES
"""put, get, atomic, active message, TCP, first get after a barrier (2) and the idle agent; put and TCP at each size"""
PEER_FIGURES = 2 + 2 * SIZES
"""put and send"""
FIGURES_OF_A_PAIR = 2
"""latency and bandwidth, between any two hosts if there are more than two"""


def _points(grid: Grid) -> list[Point]:
    assert grid.hosts is not None
    count = len(grid.hosts)
    pairs = FIGURES_OF_A_PAIR * count * (count - 1) if count > 2 else 0
    own = Point(
        suite="network",
        metric="network.latency",
        implementation="kumiki",
        program="network",
        arguments=(),
        launcher=KumikiRun(count, hosts=grid.hosts),
        parameters={"ranks": 2, "bytes": 8, "operation": "put"},
        unit="us",
        better="lower",
        seconds=0.03 if grid.quick else 0.2,
        figures=OUR_FIGURES + pairs,
        setup_seconds=1.0,
    )
    between_two = replace(own, launcher=KumikiRun(2, hosts=grid.hosts.for_ranks(2)))
    return [own, *beside.peers(grid, between_two, PEER_FIGURES, PEER_FIGURES)]


SUITE = Suite(
    name="network",
    title="Network",
    sentence="Latency and bandwidth between hosts by size, beside plain TCP on the same link, MPI and UCX.",
    headline=("network.latency", "network.bandwidth"),
    programs=beside.programs("network"),
    build=None,
    build_over_hosts=_points,
    seconds=25,
    quick_seconds=8,
)
