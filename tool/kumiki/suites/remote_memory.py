"""Remote memory between two ranks."""

from __future__ import annotations

from kumiki import mpi
from kumiki.peer import UCX, Peer
from kumiki.suites.model import Grid, KumikiRun, Launcher, Mpirun, Point, Program, Suite, with_mpi

RANKS = 2
OUR_FIGURES = 53
"""eleven figures of small transfers, and put, get and memcpy at each of 14 sizes"""
MPI_FIGURES = 45
"""put in two kinds of window, of which the better one's row is kept, and send: latencies, and transfers at each size"""
UCX_FIGURES = 15
"""the latency of put, and put at each size"""


def _points(grid: Grid) -> list[Point]:
    run = KumikiRun(RANKS)
    return [
        _point(grid, run, "kumiki", "remote-memory", OUR_FIGURES),
        *(_point(grid, Mpirun(peer, RANKS), peer.name, f"remote-memory-{peer.name}", MPI_FIGURES) for peer in mpi.ALL),
        _point(grid, run, UCX.name, "remote-memory-ucx", UCX_FIGURES, UCX),
    ]


def _point(
    grid: Grid, launcher: Launcher, implementation: str, program: str, figures: int, built_on: Peer | None = None
) -> Point:
    return Point(
        suite="remote-memory",
        metric="put.latency",
        implementation=implementation,
        program=program,
        arguments=(),
        launcher=launcher,
        parameters={"ranks": RANKS, "bytes": 8},
        unit="us",
        better="lower",
        seconds=0.02 if grid.quick else 0.12,
        figures=figures,
        built_on=built_on,
    )


SUITE = Suite(
    name="remote-memory",
    title="Remote memory",
    sentence="Latency and bandwidth between two ranks by size, with the machine's own bounds and MPI beside.",
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
    programs=(*with_mpi("remote-memory"), Program("remote-memory-ucx", UCX)),
    build=_points,
    seconds=22,
    quick_seconds=8,
)
