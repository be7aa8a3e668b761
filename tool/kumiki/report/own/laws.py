"""Laws of scaling fitted to speed-ups: Amdahl's for the same work, Gustafson's for work that grows.

Both have one parameter, the serial share s, and both are linear in it:

    Amdahl      1/S_n - 1/n = s (1 - 1/n)      s: the share of the time on one processor that does not get faster
    Gustafson   n - S_n     = s (n - 1)        s: the share of the time on n processors that only one of them uses

so that each is a line through the origin, fitted by least squares with weights that give relative errors equal weight.
Solved for one point, Amdahl's line is the serial fraction of Karp and Flatt (CACM 33(5), 1990). Intervals come from
a bootstrap: the samples of every point are drawn again, with replacement, and everything is computed again from their
medians. They reflect the scatter of the samples; the misfit shows how well the law fits at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kumiki.report.own.problem import OwnProblem
from kumiki.results.row import Row
from kumiki.results.statistics import FEWEST_SAMPLES

RESAMPLES = 2000
SEED = 1967
"""The same report every time; Amdahl's year."""
LOW, HIGH = 2.5, 97.5
"""The ends of a 95 % interval in percent."""

STEADY = 0.05
"""A serial fraction that certainly changes by no more than this counts as constant."""

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Fit:
    """A law fitted to the best setting of each number of processors."""

    name: str
    serial: float
    low: float | None
    high: float | None
    """The ends of the 95 % interval; None if a point has too few samples for one."""
    misfit: float
    """The largest distance between law and median, as a share of the median."""
    rows: tuple[Row, ...]

    def speedup(self, n: float) -> float:
        """The speed-up that the law predicts on n processors; Amdahl's has a pole if its share is negative."""
        if self.name == "Gustafson":
            return n - self.serial * (n - 1)
        return 1.0 / (self.serial + (1.0 - self.serial) / n)

    @property
    def limit(self) -> float | None:
        """Amdahl's bound for any number of processors; None if nothing bounds it."""
        return 1.0 / self.serial if self.name == "Amdahl" and self.serial > 0 else None


@dataclass(frozen=True)
class Trend:
    """The serial fraction on the fewest and on the most processors, and its direction."""

    first: Row
    last: Row
    before: float
    after: float
    direction: int | None
    """1: it rises beyond the scatter of the samples, -1: it falls, 0: neither; None with too few samples."""
    steady: bool
    """Whether the samples show that it changes by no more than `STEADY`."""


def serial_fraction(speedup: Any, n: Any, weak: bool) -> Any:
    """Karp and Flatt's serial fraction of a speed-up on n > 1 processors (numbers or arrays); Gustafson's if `weak`."""
    return (n - speedup) / (n - 1) if weak else (1 / speedup - 1 / n) / (1 - 1 / n)


def fit(problem: OwnProblem) -> Fit | None:
    """The law of the problem's scaling; None without a point on several processors besides the base case."""
    rows = _points(problem)
    if not rows:
        return None
    counts, measured = _counts(rows), _speedups(problem, rows)
    serial = float(_least_squares(measured, counts, problem.weak))
    drawn = _resampled(problem, rows)
    ends = None if drawn is None else np.percentile(_least_squares(drawn, counts, problem.weak), [LOW, HIGH])
    low, high = (None, None) if ends is None else (float(ends[0]), float(ends[1]))
    found = Fit("Gustafson" if problem.weak else "Amdahl", serial, low, high, 0.0, tuple(rows))
    foreseen = np.array([found.speedup(n) for n in counts])
    return Fit(found.name, serial, low, high, float(np.max(np.abs(foreseen / measured - 1))), found.rows)


def trend(problem: OwnProblem) -> Trend | None:
    """How the serial fraction changes from the fewest processors to the most; None with fewer than two points."""
    rows = _points(problem)
    if len(rows) < 2:
        return None
    rows = [rows[0], rows[-1]]
    counts = _counts(rows)
    before, after = serial_fraction(_speedups(problem, rows), counts, problem.weak)
    drawn = _resampled(problem, rows)
    direction, steady = None, False
    if drawn is not None:
        fractions = serial_fraction(drawn, counts, problem.weak)
        low, high = np.percentile(fractions[:, 1] - fractions[:, 0], [LOW, HIGH])
        direction = 1 if low > 0 else -1 if high < 0 else 0
        steady = bool(low >= -STEADY and high <= STEADY)
    return Trend(rows[0], rows[1], float(before), float(after), direction, steady)


def _points(problem: OwnProblem) -> list[Row]:
    return [row for row in problem.best_by_processors() if row.processors > 1 and row is not problem.base]


def _counts(rows: list[Row]) -> Array:
    return np.array([row.processors for row in rows], dtype=float)


def _speedups(problem: OwnProblem, rows: list[Row]) -> Array:
    return np.array([problem.speedup(row) for row in rows], dtype=float)


def _least_squares(speedups: Array, counts: Array, weak: bool) -> Array:
    """The serial share of speed-ups whose last axis is that of the points."""
    if weak:
        x, y, weights = counts - 1, counts - speedups, speedups**-2.0
    else:
        x, y, weights = 1 - 1 / counts, 1 / speedups - 1 / counts, speedups**2.0
    share: Array = np.sum(weights * x * y, axis=-1) / np.sum(weights * x * x, axis=-1)
    return share


def _resampled(problem: OwnProblem, rows: list[Row]) -> Array | None:
    """Speed-ups from samples drawn again, one line per draw; None if there are too few samples."""
    base = problem.base
    if base is None or any(len(problem.results.samples.get(row.id, ())) < FEWEST_SAMPLES for row in (base, *rows)):
        return None
    chance = np.random.default_rng(SEED)

    def change(row: Row) -> Array:
        """Medians of the draws as multiples of the row's own median."""
        samples = np.array(problem.results.samples[row.id])
        medians: Array = np.median(chance.choice(samples, (RESAMPLES, samples.size)), axis=1) / row.value
        return medians

    origin = change(base)
    changes = np.stack([change(row) / origin for row in rows], axis=1)
    drawn: Array = _speedups(problem, rows) * (changes if rows[0].better == "higher" else 1 / changes)
    return drawn
