"""The Himeno benchmark."""

from __future__ import annotations

from kumiki.suites import bound
from kumiki.suites.described import JAMSTEC, Described, Paper
from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Grid, Mpirun, Point, Suite, with_mpi

SWEEPS = {"SS": 500, "S": 50, "M": 10, "L": 2}
"""Sweeps that take one core a quarter of a second or less."""
ONE_CORE_SWEEP_SECONDS = {"SS": 0.00015, "S": 0.003, "M": 0.027, "L": 0.22}
SETUP_SECONDS = {"SS": 0.2, "S": 0.3, "M": 1.0, "L": 5.0}
"""Seconds to fill the arrays and for the sequential run with which a result is compared."""
GRIDS = {"SS": (32, 32, 64), "S": (64, 64, 128), "M": (128, 128, 256), "L": (256, 256, 512)}
"""Planes, rows and columns, including the boundary."""
COEFFICIENTS = 12
"""Of a point, in single precision as the pressure is."""
OPERATIONS = 34
"""Operations per point, as the benchmark counts them."""


def _traffic(size: str) -> bound.Traffic:
    """A sweep reads the coefficients of every point and changes its pressure, in whole rows of the planes inside."""
    planes, rows, columns = GRIDS[size]
    inside = (planes - 2) * (rows - 2)
    return bound.Traffic(
        work=OPERATIONS * inside * (columns - 2) / 1e6,
        unit="MFLOPS",
        read=4 * COEFFICIENTS * inside * columns,
        update=4 * inside * columns,
    )


def _workload(size: str) -> Workload:
    return Workload(
        suite="himeno",
        program="himeno",
        metric="himeno.time",
        arguments=("--size", size, "--sweeps", str(SWEEPS[size])),
        parameters={"size": size, "sweeps": SWEEPS[size]},
        one_core_seconds=SWEEPS[size] * ONE_CORE_SWEEP_SECONDS[size],
        setup_seconds=SETUP_SECONDS[size],
        in_messages=True,
        traffic=_traffic(size),
    )


PROBLEMS = Problems(
    _workload("S"),
    _workload("M"),
    [_workload(size) for size in ("SS", "S", "L")],
    in_tiles=_workload("M").in_tiles("pencils"),
)


def _by_sendrecv(grid: Grid, workload: Workload) -> list[Point]:
    """The paper's own form, starting with one process, which the paper compares with the sequential program."""
    return [
        workload.point(grid, Mpirun(peer, ranks), "sendrecv", ("--sendrecv",), implementation=peer.name)
        for peer in grid.mpis
        for ranks in grid.rank_counts()
    ]


def _points(grid: Grid) -> list[Point]:
    sizes = () if grid.quick else (PROBLEMS.usual, *PROBLEMS.others)
    return [*PROBLEMS.everywhere(grid), *(point for size in sizes for point in _by_sendrecv(grid, size))]


SUITE = Suite(
    name="himeno",
    title="Himeno benchmark",
    sentence="A stencil of 19 points with 12 coefficients each: the memory bus measured in MFLOPS.",
    headline=("himeno.time", "himeno.rate", "himeno.bound"),
    programs=(*with_mpi("himeno"), bound.PROGRAM),
    build=_points,
    build_over_hosts=PROBLEMS.over_hosts,
    seconds=240,
    quick_seconds=14,
    by_name=True,
    described=Described(
        "Himeno benchmark",
        "The Himeno benchmark: a 19-point stencil with twelve coefficients per point, limited by the memory bus.",
        ("size", "M"),
        Paper(JAMSTEC, rate="Figures 7 to 9", settings="Table 2", by_size="Table 2"),
    ),
)
