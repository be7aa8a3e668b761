"""Linpack: its rate over N, and what block, grid and shares of the columns change."""

from __future__ import annotations

from dataclasses import replace

from kumiki.linpack.model import near_square, operations
from kumiki.machine.peer import BLAS
from kumiki.suites.model import Grid, KumikiRun, Point, Program, Suite

SIZES, QUICK_SIZES = (500, 1000, 2000, 4000), (500, 1000)
STUDY, QUICK_STUDY = 2000, 1000
"""N where one thing is changed at a time."""
BLOCK = 192
BLOCKS = (32, 64, 128, 192, 256, 384)
SECONDS, QUICK_SECONDS = 2.0, 0.5
PIECE_SECONDS = 1.0
ONE_CORE_FLOPS = 25e9
ELEMENTS_PER_SECOND = 100e6
"""Of a core, to make the matrix and to check the solution."""
PRODUCT_SECONDS = 0.4
PIECES, QUICK_PIECES = (250, 500, 1000, 2000, 4000), (250, 1000)
"""N of which the parts of a step are measured, for the model (kumiki predict linpack)."""


def _point(
    grid: Grid,
    place: tuple[int, int],
    size: int,
    block: int = BLOCK,
    shape: tuple[int, int] | None = None,
    weights: str = "equal",
) -> Point:
    """A size on (ranks, threads), by default on the grid that is as square as can be, with equal shares."""
    ranks, threads = place
    rows, columns = shape or near_square(ranks)
    working = min(ranks * threads, grid.all_cores)
    return Point(
        suite="linpack",
        metric="linpack.rate",
        implementation="kumiki",
        program="linpack",
        arguments=(
            *("-N", str(size), "--block", str(block), "--grid", f"{rows}x{columns}"),
            *(() if weights == "equal" else ("--weights", weights)),
        ),
        launcher=KumikiRun(ranks, threads, hosts=grid.hosts),
        parameters={
            **{"ranks": ranks, "threads": threads, "n": size, "block": block},
            **{"grid": f"{rows}x{columns}", "weights": weights},
        },
        unit="GFLOP/s",
        better="higher",
        seconds=QUICK_SECONDS if grid.quick else SECONDS,
        sample_seconds=(operations(size) / ONE_CORE_FLOPS + 2 * size**2 / ELEMENTS_PER_SECOND) / working,
        built_on=BLAS,
    )


def _product(grid: Grid, place: tuple[int, int]) -> Point:
    """DGEMM at the shape of an update, on all ranks and threads together: the bound."""
    point = _point(grid, place, QUICK_STUDY if grid.quick else STUDY)
    return replace(
        point,
        metric="dgemm.rate",
        implementation="bound",
        arguments=(*point.arguments, "--product"),
        sample_seconds=PRODUCT_SECONDS,
    )


def _pieces(grid: Grid, place: tuple[int, int], size: int) -> Point:
    """The parts of the first step of a matrix of this size, and the solution, each by itself."""
    point = _point(grid, place, size)
    step = 2 * size**2 * BLOCK / ONE_CORE_FLOPS + 2 * size * BLOCK**2 / ONE_CORE_FLOPS + size**2 / ELEMENTS_PER_SECOND
    return replace(
        point,
        metric="linpack.product",
        arguments=(*point.arguments, "--pieces"),
        figures=4,
        seconds=QUICK_SECONDS if grid.quick else PIECE_SECONDS,
        sample_seconds=step / 4,
    )


def _over(grid: Grid, places: list[tuple[int, int]]) -> list[Point]:
    """All sizes in these places, and the studies in the last of them, which has the most ranks."""
    study = QUICK_STUDY if grid.quick else STUDY
    last = places[-1]
    found = [_point(grid, place, size) for place in places for size in (QUICK_SIZES if grid.quick else SIZES)]
    found += [_point(grid, places[0], study, block) for block in BLOCKS]
    ranks = last[0]
    shapes = [(rows, ranks // rows) for rows in range(1, ranks + 1) if ranks % rows == 0]
    found += [_point(grid, last, study, shape=shape) for shape in shapes]
    if ranks > 1:
        row = (1, ranks)
        double = ",".join(["2", *(["1"] * (ranks - 1))])
        found += [_point(grid, last, study, shape=row, weights=weights) for weights in ("equal", "measured", double)]
    found += [_product(grid, place) for place in places]
    found += [_pieces(grid, place, size) for place in places for size in (QUICK_PIECES if grid.quick else PIECES)]
    return list({point.key: point for point in found}.values())


def _points(grid: Grid) -> list[Point]:
    """Threads only, and ranks only."""
    return _over(grid, sorted({(1, grid.cores), (grid.cores, 1)}))


def _over_hosts(grid: Grid) -> list[Point]:
    assert grid.hosts is not None
    count = len(grid.hosts)
    return _over(grid, [(count, max(1, grid.all_cores // count))])


SUITE = Suite(
    name="linpack",
    title="Linpack",
    sentence="A dense system of equations by LU: the rate over N, and what block, grid and shares change.",
    headline=("linpack.rate", "dgemm.rate"),
    programs=(Program("linpack", BLAS),),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=140,
    quick_seconds=30,
    by_name=True,
)
