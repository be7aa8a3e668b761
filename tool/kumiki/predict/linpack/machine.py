"""The words of the Linpack model: rates by shape, kinds of processes, runs, and the machine that has them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil, inf, log

ELEMENT_BYTES = 8


@dataclass(frozen=True)
class Rate:
    """How fast a process does one thing, by the rows of its part of the matrix.

    Between two measured points it is interpolated over the logarithm of the rows; beyond them it stays as it is there.
    """

    points: tuple[tuple[float, float], ...]
    """Rows, and GFLOP/s, in ascending order of rows."""
    bandwidth: float = inf
    """MB/s at which operands and results are moved before and after the operations, as to a device."""
    shared: int = 1
    """The processes that take turns on a device: each gets such a part of it."""
    variation: tuple[float, ...] = ()
    """Measured times, each divided by the median of its point; empty: always the same."""

    def at(self, rows: float) -> float:
        """GFLOP/s without the moves, and without sharing."""
        sizes = [size for size, _ in self.points]
        place = bisect_left(sizes, rows)
        if place in (0, len(sizes)):
            return self.points[min(place, len(sizes) - 1)][1]
        (low, slow), (high, fast) = self.points[place - 1], self.points[place]
        return slow + (fast - slow) * log(rows / low) / log(high / low)

    def seconds(self, rows: float, operations: float, elements: float = 0.0) -> float:
        """The time of so many operations on a part of so many rows, that have so many elements moved."""
        if not operations:
            return 0.0
        moved = elements * ELEMENT_BYTES / (1e6 * self.bandwidth)
        return self.shared * (operations / (1e9 * self.at(rows)) + moved)


@dataclass(frozen=True)
class Kind:
    """One kind of processes. Rates are those of all threads of a process together, but for the panel's."""

    product: Rate
    """Of C -= A B, in an update."""
    panel: Rate
    """Of the factorisation of a panel, by one thread, while the others update."""
    solve: Rate
    """Of the triangular solve for the rows of U."""
    exchange: Rate | None = None
    """Of the operations of the solve together with the rows that change places, also over the link, where that was
    measured; None: these take what the link says."""
    narrow: Rate | None = None
    """Of the product that updates the columns of the next panel, by one thread; None: as product, which is of all
    threads. A product of few columns is slower, because its left factor is rearranged for them alone."""
    solution: Rate | None = None
    """Of the back substitution, by the size of the matrix, all processes together; None: it takes no time."""
    threads: int = 1
    resident: bool = False
    """Whether the matrix lives on a device, which updates it while the host factors panels: `product` and `solve` are
    the device's, and `panel` is the host's."""
    bus: float = inf
    """MB/s in each direction at which panels travel between such a device and its host."""

    @property
    def rates(self) -> dict[str, Rate]:
        """Those that it has, by their names in a file."""
        found = {
            "product": self.product,
            "panel": self.panel,
            "solve": self.solve,
            "exchange": self.exchange,
            "narrow": self.narrow,
            "solution": self.solution,
        }
        return {name: rate for name, rate in found.items() if rate is not None}

    def multiply(self, rows: float, columns: float, depth: float) -> float:
        """The time of C -= A B, with C of rows x columns (M6)."""
        moved = (rows + columns) * depth + 2 * rows * columns
        return self.product.seconds(rows, 2 * rows * columns * depth, moved)


@dataclass(frozen=True)
class Run:
    """A run to predict."""

    name: str
    n: int
    block: int
    rows: int
    """Process rows."""
    columns: int
    """Process columns."""
    kinds: tuple[str, ...]
    """The kinds of processes that each process column has; the slowest of them decides."""
    known: float | None = None
    """GFLOP/s that were published, or measured."""
    chosen: str = ""
    """The number of the machine that was chosen so that this run comes out; empty: none."""

    @property
    def steps(self) -> int:
        return ceil(self.n / self.block)

    def local_rows(self, step: int) -> int:
        """The most rows that a process has from block row `step` on."""
        blocks = max(self.steps - step, 0)
        # The last block may be narrower: it counts where a single process row has the most blocks.
        alone = blocks > 0 and (blocks - 1) % self.rows == 0
        return ceil(blocks / self.rows) * self.block - (self.steps * self.block - self.n if alone else 0)

    def local_columns(self, column: int, step: int) -> int:
        """The columns that a process column has from block column `step` on."""
        own = (self.steps - 1 - column) // self.columns - (step - 1 - column) // self.columns
        last = self.steps > step and (self.steps - 1) % self.columns == column
        return own * self.block - (self.steps * self.block - self.n if last else 0)


@dataclass(frozen=True)
class Machine:
    """A machine, and the runs on it."""

    name: str
    source: str
    """Who gives its numbers and results, as part of a sentence."""
    kinds: Mapping[str, Kind]
    runs: tuple[Run, ...]
    link_rate: float = inf
    """MB/s at which a process sends or receives while all do; infinite: panels are read where they were made."""
    link_latency: float = 0.0
    """Microseconds."""
    crossings: tuple[tuple[str, str, float], ...] = ()
    """Of two runs, the N from which the first is the faster one, as it was published."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Where a number comes from, by its name, if not from the source."""

    def transfer(self, elements: float) -> float:
        """The time in seconds of a message with so many elements."""
        return self.link_latency / 1e6 + elements * ELEMENT_BYTES / (1e6 * self.link_rate)

    def slowest(self, run: Run, time: Callable[[Kind], float]) -> float:
        """What the slowest kind of a process column needs."""
        return max(time(self.kinds[name]) for name in run.kinds)
