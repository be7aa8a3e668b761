"""Linpack: its rate over N, also with a device, and what one change makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kumiki.linpack.mix import Mix
from kumiki.linpack.model import USUAL, near_square, operations
from kumiki.machine.peer import BLAS
from kumiki.suites import reference_hpl
from kumiki.suites.model import Grid, KumikiRun, Point, Program, Suite

SIZES, QUICK_SIZES = (500, 1000, 2000, 4000), (500, 1000)
STUDY, QUICK_STUDY = 2000, 1000
"""N where one thing is changed at a time."""
CROWDED_STUDY = 1000
"""N with more threads than cores, where waiting may slow a run down ten times."""
BLOCK, SMALL_BLOCK = 192, 64
BLOCKS = (32, SMALL_BLOCK, 128, BLOCK, 256, 384)
LOOK_AHEADS = ("tiles", "thread", "chopped", "none")
WAITS = ("adaptive", "spin", "yield", "sleep")
SECONDS, QUICK_SECONDS = 2.0, 0.5
STUDY_SECONDS = 1.0
PIECE_SECONDS = 1.0
ONE_CORE_FLOPS = 25e9
ELEMENTS_PER_SECOND = 100e6
"""Of a core, to make the matrix and to check the solution."""
PRODUCT_SECONDS = 0.4
DEVICE_PRODUCT_SECONDS = 0.8
PIECES, QUICK_PIECES = (250, 500, 1000, 2000, 4000), (250, 1000)
"""N of which the parts of a step are measured, for the model (kumiki predict linpack)."""
DEVICE_CORE_RATE, MOST_DEVICE_CORES, DEVICE_BANDWIDTH = 10, 4, 4
"""Of the emulated device: GFLOP/s for each of the cores that compute its products, no more than it keeps busy; GB/s."""
OFFLOAD, RESIDENT = "offload", "resident"
"""A device gets products of updates, or the matrix lives on it."""
ONE_SLOW = "one slow"
"""The last core shares its time with another thread."""


@dataclass(frozen=True)
class _Run:
    """One setting of the program."""

    ranks: int
    threads: int
    size: int
    block: int = BLOCK
    shape: tuple[int, int] | None = None
    """Process rows and columns; None: as square as can be."""
    weights: str = "equal"
    device: str = USUAL["device"]
    form: str = USUAL["form"]
    look_ahead: str = USUAL["look_ahead"]
    wait: str = USUAL["wait"]
    cores: str = USUAL["cores"]
    mix: Mix | None = None
    """Host processes and, after them, those on the device."""

    @property
    def grid(self) -> str:
        rows, columns = self.shape or near_square(self.ranks)
        return f"{rows}x{columns}"

    def arguments(self) -> Iterator[str]:
        yield from ("-N", str(self.size), "--block", str(self.block), "--grid", self.grid)
        if self.weights != "equal":
            yield from ("--weights", self.weights)
        if self.device != USUAL["device"]:
            yield from ("--device", self.device, "--form", self.form)
        if self.mix:
            yield from ("--device-processes", str(self.mix.accelerated))
        if self.look_ahead != USUAL["look_ahead"]:
            yield from ("--look-ahead", self.look_ahead)
        if self.cores == ONE_SLOW:
            yield "--burden"

    def options(self) -> Iterator[str]:
        """Those of the launcher."""
        if self.wait != USUAL["wait"]:
            yield from ("--wait", self.wait)
        if self.cores == ONE_SLOW:
            yield from ("--bind", "shared")

    def point(self, grid: Grid, seconds: float = SECONDS) -> Point:
        working = min(self.ranks * self.threads, grid.all_cores)
        return Point(
            suite="linpack",
            metric="linpack.rate",
            implementation="kumiki",
            program="linpack",
            arguments=tuple(self.arguments()),
            launcher=KumikiRun(
                self.ranks,
                self.threads,
                tuple(self.options()),
                hosts=grid.hosts,
                each=self.mix.each if self.mix else "",
            ),
            parameters={
                **{"ranks": self.ranks, "threads": self.threads, "n": self.size, "block": self.block},
                **{"grid": self.grid, "weights": self.weights, "device": self.device},
                "form": self.form,
                **{"look_ahead": self.look_ahead, "wait": self.wait, "cores": self.cores},
                "mix": str(self.mix or USUAL["mix"]),
            },
            unit="GFLOP/s",
            better="higher",
            seconds=QUICK_SECONDS if grid.quick else seconds,
            sample_seconds=(operations(self.size) / ONE_CORE_FLOPS + 2 * self.size**2 / ELEMENTS_PER_SECOND) / working,
            built_on=BLAS,
        )

    def product(self, grid: Grid) -> Point:
        """DGEMM at the shape of an update, on all ranks and threads (and a device) together: the bound."""
        point = self.point(grid)
        return replace(
            point,
            metric="dgemm.rate",
            implementation="bound",
            arguments=(*point.arguments, "--product"),
            sample_seconds=PRODUCT_SECONDS if self.device == USUAL["device"] else DEVICE_PRODUCT_SECONDS,
        )

    def pieces(self, grid: Grid) -> Point:
        """The parts of the first step of a matrix of this size, and the solution, each by itself."""
        point = self.point(grid, PIECE_SECONDS)
        step = 2 * self.size**2 * self.block + 2 * self.size * self.block**2
        return replace(
            point,
            metric="linpack.product",
            arguments=(*point.arguments, "--pieces"),
            figures=5,
            sample_seconds=step / ONE_CORE_FLOPS,
            setup_seconds=self.size**2 / ELEMENTS_PER_SECOND,
        )


def emulated(cores: int) -> str:
    """An accelerator for studies, whose products so many cores compute."""
    return f"emulated:rate={DEVICE_CORE_RATE * min(cores, MOST_DEVICE_CORES)},bus={DEVICE_BANDWIDTH}"


def _sizes(grid: Grid) -> tuple[int, ...]:
    return QUICK_SIZES if grid.quick else SIZES


def _study(grid: Grid) -> int:
    return QUICK_STUDY if grid.quick else STUDY


def _over(grid: Grid, places: list[tuple[int, int]]) -> Iterator[Point]:
    """All sizes in these places, and what one change makes of it, with ranks in the last, which has the most."""
    study, last = _study(grid), places[-1]
    yield from (_Run(*place, size).point(grid) for place in places for size in _sizes(grid))
    yield from (_Run(*places[0], study, block).point(grid) for block in BLOCKS)
    ranks = last[0]
    shapes = [(rows, ranks // rows) for rows in range(1, ranks + 1) if ranks % rows == 0]
    yield from (_Run(*last, study, shape=shape).point(grid) for shape in shapes)
    if ranks > 1:
        double = ",".join(["2", *(["1"] * (ranks - 1))])
        for weights in ("equal", "measured", double):
            yield _Run(*last, study, shape=(1, ranks), weights=weights).point(grid)
    yield from _techniques(grid, last)
    yield from (_Run(*place, study).product(grid) for place in places)
    sizes = QUICK_PIECES if grid.quick else PIECES
    yield from (_Run(*place, size).pieces(grid) for place in places for size in sizes)


def _techniques(grid: Grid, place: tuple[int, int]) -> Iterator[Point]:
    """Ways to look ahead, with two blocks, because short products are slow ones (TSUBAME paper, Figure 6)."""
    for block in (SMALL_BLOCK,) if grid.quick else (SMALL_BLOCK, BLOCK):
        for look_ahead in LOOK_AHEADS:
            yield _Run(*place, _study(grid), block, look_ahead=look_ahead).point(grid, STUDY_SECONDS)


def _waiting(grid: Grid) -> Iterator[Point]:
    """Ways to wait, with as many ranks as there are cores and with twice as many (F47, F48)."""
    for ranks in (2 * grid.cores,) if grid.quick else (grid.cores, 2 * grid.cores):
        for wait in WAITS:
            yield _Run(ranks, 1, CROWDED_STUDY, SMALL_BLOCK, (1, ranks), wait=wait).point(grid, STUDY_SECONDS)


def _unequal(grid: Grid) -> Iterator[Point]:
    """One core at half its speed: equal shares, shares by speed, threads that take tiles, and the process mix of the
    paper: two processes with equal shares for each core, but one for the slow core."""
    if grid.cores < 2:
        return
    cores, study = grid.cores, _study(grid)
    by_core = _Run(cores, 1, study, shape=(1, cores), cores=ONE_SLOW)
    mixed = 2 * cores - 1
    runs = (
        by_core,
        replace(by_core, weights="measured"),
        _Run(1, cores, study, cores=ONE_SLOW),
        _Run(mixed, 1, study, shape=(1, mixed), cores=ONE_SLOW),
    )
    yield from (run.point(grid, STUDY_SECONDS) for run in runs)
    yield by_core.product(grid)


def _with_device(grid: Grid) -> Iterator[Point]:
    """Half of the cores alone, and with an emulated device that the other half computes, over N (Figure 5): which gets
    products, or on which the matrix lives."""
    if grid.cores < 2:
        return
    threads = grid.cores // 2
    device = emulated(grid.cores - threads)
    for size in _sizes(grid):
        alone = _Run(1, threads, size)
        # A device for studies is slower than a core, and where the matrix lives on it the core does not help.
        forms = (OFFLOAD, RESIDENT) if size <= STUDY else (OFFLOAD,)
        for run in (alone, *(replace(alone, device=device, form=form) for form in forms)):
            yield run.point(grid, STUDY_SECONDS)
            if not grid.quick:
                yield run.product(grid)
        if not grid.quick:
            yield alone.pieces(grid)


def _mixes(grid: Grid) -> Iterator[Point]:
    """Host processes on half of the cores, one thread each or all in one (fine and coarse, Figure 7), and a process on
    the device that the others compute; all with equal shares."""
    if grid.cores < 2:
        return
    half = grid.cores // 2
    for mix in dict.fromkeys((Mix(half, 1, 1), Mix(1, half, 1))):
        device = emulated(grid.cores - half)
        run = _Run(mix.ranks, mix.threads, _study(grid), shape=(1, mix.ranks), device=device, form=OFFLOAD, mix=mix)
        yield run.point(grid, STUDY_SECONDS)


def _once(points: Iterator[Point]) -> list[Point]:
    return list({point.key: point for point in points}.values())


def _points(grid: Grid) -> list[Point]:
    """Threads only, and ranks only; and the studies of a host."""

    def every() -> Iterator[Point]:
        yield from _over(grid, sorted({(1, grid.cores), (grid.cores, 1)}))
        yield from _waiting(grid)
        yield from _unequal(grid)
        yield from _with_device(grid)
        yield from _mixes(grid)
        yield from reference_hpl.points(grid, _sizes(grid), BLOCK)

    return _once(every())


def _over_hosts(grid: Grid) -> list[Point]:
    assert grid.hosts is not None
    count = len(grid.hosts)
    return _once(_over(grid, [(count, max(1, grid.all_cores // count))]))


SUITE = Suite(
    name="linpack",
    title="Linpack",
    sentence="A dense system of equations by LU: the rate over N, and what block, grid, shares and a device change.",
    headline=("linpack.rate", "dgemm.rate"),
    programs=(Program("linpack", BLAS),),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=290,
    quick_seconds=40,
    by_name=True,
)
