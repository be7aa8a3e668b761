"""The time of a run: a recursion over the steps of the factorisation, with a clock for each process column."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass, replace
from functools import cache
from math import inf

from kumiki.linpack.model import operations
from kumiki.predict.linpack.machine import ELEMENT_BYTES, Kind, Machine, Run

MOVED = 3
"""How often an element of U is sent when rows change places, as HPL estimates of its long exchange."""
DRAWS = 15
"""How often a run is predicted when rates vary, each time with other variations."""


@dataclass(frozen=True)
class Expected:
    """GFLOP/s that the model expects of a run: the median, and the least and the most of its draws."""

    rate: float
    low: float
    high: float


def expected(machine: Machine, run: Run) -> Expected:
    """The prediction of a run; the same at each call."""
    varies = any(machine.kinds[name].product.variation for name in run.kinds)
    chance = random.Random(run.n)
    rates = [
        operations(run.n) / 1e9 / _Steps(machine, run, chance).seconds() if run.n else 0.0
        for _ in range(DRAWS if varies else 1)
    ]
    return Expected(statistics.median(rates), min(rates), max(rates))


class _Steps:
    """One pass over the steps of a run. Each process column has a clock; a step of it begins when it is done with the
    step before and has the panel, and the column that owns the next panel updates that panel's columns first and
    factors them, while its other threads (if it has any) update the rest.
    """

    def __init__(self, machine: Machine, run: Run, chance: random.Random) -> None:
        self._machine = machine
        self._run = run
        self._chance = chance
        self._usual = cache(self._usual_update)  # process columns have as many columns, or a block more
        variations = [machine.kinds[name].product.variation for name in run.kinds]
        self._variation = max(variations, key=lambda times: max(times, default=0.0))

    def seconds(self) -> float:
        run = self._run
        clocks = [0.0] * run.columns
        ready = self._panel(0) + self._way(0, run.block)
        clocks[0] = ready
        done_before = 0.0  # when all were done with the step before the last: then the place of its panel is free
        for step in range(run.steps):
            done_last = max(clocks)
            owner, next_owner = step % run.columns, (step + 1) % run.columns
            next_ready = 0.0
            for column in range(run.columns):
                start = max(clocks[column], ready + self._broadcast(step, (column - owner) % run.columns))
                if column == next_owner and step + 1 < run.steps:
                    next_ready, clocks[column] = self._with_panel(column, step, start, done_before)
                else:
                    clocks[column] = start + self._update(step, run.local_columns(column, step + 1))
            ready, done_before = next_ready, done_last
        return max(clocks) + self._machine.slowest(run, self._solution)

    def _with_panel(self, column: int, step: int, start: float, free: float) -> tuple[float, float]:
        """When the next panel is ready, and when this column, which makes it, is done with the step."""
        run = self._run
        width = min(run.block, run.n - (step + 1) * run.block)
        columns = run.local_columns(column, step + 1)
        threads = max(self._machine.kinds[name].threads for name in run.kinds)
        panel, first = self._panel(step + 1), self._first(step, width, threads)
        rest = self._update(step, columns - width)
        if all(self._machine.kinds[name].resident for name in run.kinds):
            # The device goes on while the panel travels to the host, is factored there, and travels back.
            return start + first + 2 * self._way(step + 1, width) + panel, start + first + rest
        # One thread makes the panel: the first columns take it as many times longer as there are threads. A panel that
        # is read where it is made takes the place of the one before the last, which all must be done with.
        at_once = start + first * threads
        ready = (at_once if self._machine.link_rate < inf else max(at_once, free)) + panel
        return ready, max(ready, start + first + rest + panel / threads)

    def _first(self, step: int, columns: int, threads: int) -> float:
        """The update of the columns of the next panel, as if all threads shared it, as the model counts it."""
        run, rows = self._run, self._run.local_rows(step + 1)
        usual = self._update(step, columns)

        def more(kind: Kind) -> float:
            if kind.narrow is None:
                return 0.0
            alone = kind.narrow.seconds(rows, 2 * rows * columns * run.block)
            return alone / threads - kind.multiply(rows, columns, run.block)

        return usual + self._machine.slowest(run, more)

    def _update(self, step: int, columns: int) -> float:
        """The update of so many columns, and the change of rows before it, as the slowest rank of a column does it."""
        computing, moving = self._usual(step, columns)
        return computing * self._delay() + moving

    def _usual_update(self, step: int, columns: int) -> tuple[float, float]:
        """The seconds that ranks compute, and that rows are on their way."""
        if not columns:
            return 0.0, 0.0
        run, rows = self._run, self._run.local_rows(step + 1)

        moved = self._machine.transfer(MOVED * run.block * columns) if run.rows > 1 else 0.0

        def times(kind: Kind) -> tuple[float, float]:
            exchange = (kind.exchange or kind.solve).seconds(run.local_rows(step), run.block**2 * columns)
            return kind.multiply(rows, columns, run.block) + exchange, 0.0 if kind.exchange else moved

        return max((times(self._machine.kinds[name]) for name in run.kinds), key=sum)

    def _panel(self, step: int) -> float:
        run = self._run
        rows, width = run.local_rows(step), min(run.block, run.n - step * run.block)
        count = rows * width**2 - width**3 / 3
        return self._machine.slowest(run, lambda kind: kind.panel.seconds(rows, count))

    def _way(self, step: int, width: int) -> float:
        """A panel between its host and the device on which the matrix lives: the factor of an update, with the inverse
        of its triangle, has as many elements."""
        count = self._run.local_rows(step) * width
        return self._machine.slowest(self._run, lambda kind: count * ELEMENT_BYTES / (1e6 * kind.bus))

    def _broadcast(self, step: int, hops: int) -> float:
        """A panel goes along the ring of its process row: each rank has it so many hops after its owner."""
        return hops * self._machine.transfer(self._run.local_rows(step) * self._run.block)

    def _solution(self, kind: Kind) -> float:
        return kind.solution.seconds(self._run.n, self._run.n**2) if kind.solution else 0.0

    def _delay(self) -> float:
        """The slowest rank of a process column has the longest of as many times as there are ranks."""
        times = self._variation
        return max(self._chance.choice(times) for _ in range(self._run.rows)) if times else 1.0


def fitted(machine: Machine, run: Run, least: float = 1.0, most: float = 1e5) -> Machine:
    """The machine whose link rate, between two bounds in MB/s, lets a run come out as it is known."""
    assert run.known is not None
    while most / least > 1 + 1e-6:
        middle = (least * most) ** 0.5
        if expected(replace(machine, link_rate=middle), run).rate > run.known:
            most = middle
        else:
            least = middle
    return replace(machine, link_rate=(least * most) ** 0.5)
