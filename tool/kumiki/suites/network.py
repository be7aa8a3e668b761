"""The network between hosts."""

from __future__ import annotations

from kumiki import mpi
from kumiki.peer import UCX, Peer
from kumiki.suites.model import Grid, KumikiRun, Launcher, Mpirun, Point, Program, Suite, with_mpi

SIZES = 9
"""1 KiB to 64 MiB by factors of 4"""
OUR_FIGURES = 6 + 2 * SIZES
"""put, get, atomic, active message, TCP and the idle agent; put and TCP at each size"""
PEER_FIGURES = 2 + 2 * SIZES
"""put and send"""
FIGURES_OF_A_PAIR = 2
"""latency and bandwidth, between every two hosts where there are more than two"""


def _points(grid: Grid) -> list[Point]:
    assert grid.hosts is not None
    count = len(grid.hosts)
    pairs = FIGURES_OF_A_PAIR * count * (count - 1) if count > 2 else 0
    two = grid.hosts.for_ranks(2)
    return [
        _point(grid, KumikiRun(count, hosts=grid.hosts), "kumiki", "network", OUR_FIGURES + pairs),
        *(
            _point(grid, Mpirun(peer, 2, hosts=two), peer.name, f"network-{peer.name}", PEER_FIGURES)
            for peer in mpi.ALL
        ),
        _point(grid, KumikiRun(2, hosts=two), UCX.name, "network-ucx", PEER_FIGURES, UCX),
    ]


def _point(
    grid: Grid, launcher: Launcher, implementation: str, program: str, figures: int, built_on: Peer | None = None
) -> Point:
    return Point(
        suite="network",
        metric="network.latency",
        implementation=implementation,
        program=program,
        arguments=(),
        launcher=launcher,
        parameters={"ranks": 2, "bytes": 8, "operation": "put"},
        unit="us",
        better="lower",
        seconds=0.03 if grid.quick else 0.2,
        figures=figures,
        setup_seconds=1.0,
        built_on=built_on,
    )


SUITE = Suite(
    name="network",
    title="Network",
    sentence="Latency and bandwidth between hosts by size, beside plain TCP on the same link, MPI and UCX.",
    headline=("network.latency", "network.bandwidth"),
    programs=(*with_mpi("network"), Program("network-ucx", UCX)),
    build=None,
    build_over_hosts=_points,
    seconds=25,
    quick_seconds=8,
)
