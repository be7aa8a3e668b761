"""The statistics of samples: medians with their intervals, defects of samples, and the one test that decides whether
two medians differ or are equal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

NORMAL_QUANTILE_975 = 1.96
FEWEST_SAMPLES = 6
"""From this number on, min..max covers the median with 95 %; fewer samples never converge and allow no verdict."""
CONVERGED_HALF_WIDTH = 0.05
EQUAL_WITHIN = 0.10
"""Medians whose ratio is certainly within this distance of 1 are equal. Two rows that have just converged with the same
median just satisfy this."""
LEAST_DIFFERENCE = 0.02
"""A smaller difference never counts: the placement of a program in memory makes as much difference from start to start,
and the samples of one start do not show it."""
STEP = 0.05
"""A change of level, or a distance between two modes, below this share of the median does not matter."""
FEWEST_OF_A_MODE = 0.2
"""The least share of the samples in the smaller of two modes; fewer are outliers."""


class Unsteady(Enum):
    """Why samples are not independent draws of one figure; if several reasons apply, the first one is reported."""

    DRIFT = "drift"
    """The second half of the samples is at a different level than the first."""
    MODES = "modes"
    """The samples form two groups with a gap between them."""
    START = "start"
    """The first sample is far from all others: one more run should have been a warm-up run."""


@dataclass(frozen=True)
class Summary:
    """The summary of one row's samples; `low` and `high` bound the 95 % confidence interval of the median."""

    median: float
    low: float
    high: float
    n: int
    unsteady: Unsteady | None = None
    resolution: float = 0.0
    """The precision that is sufficient however small the figure is: no smaller difference matters."""

    @property
    def converged(self) -> bool:
        """Whether half the interval's width is at most 5 % of the median, from six samples on."""
        half_width = (self.high - self.low) / 2
        return self.n >= FEWEST_SAMPLES and half_width <= CONVERGED_HALF_WIDTH * abs(self.median)


def summarise(samples: Sequence[float]) -> Summary:
    """The median and its 95 % confidence interval; `samples` has at least one finite number, in the order taken.

    The interval runs between the sorted samples of the ranks (n - 1.96 sqrt n)/2, rounded down, and
    1 + (n + 1.96 sqrt n)/2, rounded up. It assumes no distribution, but that samples are independent. Where they drift
    or have two modes they are not, and the interval is min..max. Up to n = 8 it is that anyway; below n = 6 even
    min..max covers the median with less than 95 % (75 % at n = 3).
    """
    taken = np.asarray(samples, dtype=float)
    unsteady = _unsteady(taken)
    low, high = _ends(taken)
    if unsteady in (Unsteady.DRIFT, Unsteady.MODES):
        low, high = float(taken.min()), float(taken.max())
    return Summary(float(np.median(taken)), low, high, int(taken.size), unsteady)


@dataclass(frozen=True)
class Contrast:
    """The ratio of the medians of two summaries, the second divided by the first. This is the only test by which
    figures are compared.

    If both intervals contain their medians, the ratio is between `low` and `high`, whatever the distributions are. Each
    verdict is therefore wrong in at most 5 % of the cases, and in less than 1 % if the intervals are equally wide.
    """

    ratio: float
    low: float
    high: float
    """0 and infinity if there are too few samples for a verdict."""
    apart: bool
    """Whether the two intervals do not overlap, and the medians are further apart than the resolution."""
    together: bool = False
    """Whether the two intervals are no further apart than the resolution, wherever the medians are in them."""

    @property
    def differ(self) -> bool:
        """The medians differ: the intervals do not overlap, and the difference is large enough."""
        return (
            self.apart and abs(math.log(self.ratio)) >= math.log1p(LEAST_DIFFERENCE) if self.ratio > 0 else self.apart
        )

    @property
    def equal(self) -> bool:
        """The medians are the same within 10 %, or to the resolution: all that the intervals allow are."""
        return not self.differ and (self.together or self.within <= EQUAL_WITHIN)

    @property
    def open(self) -> bool:
        """The samples show neither."""
        return not self.differ and not self.equal

    @property
    def within(self) -> float:
        """The largest possible difference, as a share of the smaller median."""
        return max(self.high, 1 / self.low if self.low > 0 else math.inf) - 1


def contrast(first: Summary, second: Summary) -> Contrast:
    """Compares two medians. Medians that are zero or negative have no ratio: they can differ, but are equal only if
    both are 0 throughout, or the same to their resolution.
    """
    resolution = max(first.resolution, second.resolution)
    if min(first.n, second.n) < FEWEST_SAMPLES:
        return Contrast(_ratio(second.median, first.median), 0.0, math.inf, apart=False)
    overlap = second.low <= first.high and first.low <= second.high
    apart = not overlap and abs(second.median - first.median) > resolution
    together = max(first.high, second.high) - min(first.low, second.low) <= resolution
    if first.low == first.high == second.low == second.high == 0:
        return Contrast(1.0, 1.0, 1.0, apart=False)
    if first.low <= 0 or second.low <= 0:
        return Contrast(_ratio(second.median, first.median), 0.0, math.inf, apart, together)
    return Contrast(second.median / first.median, second.low / first.high, second.high / first.low, apart, together)


def _ratio(second: float, first: float) -> float:
    """1 if both are zero."""
    return second / first if first else 1.0 if second == first else math.copysign(math.inf, second)


Samples = np.ndarray[tuple[int], np.dtype[np.float64]]


def _ends(taken: Samples) -> tuple[float, float]:
    """The ends of the interval of independent samples."""
    ordered, n = np.sort(taken), int(taken.size)
    spread = NORMAL_QUANTILE_975 * math.sqrt(n)
    low_rank = max(math.floor((n - spread) / 2), 1)
    high_rank = min(math.ceil(1 + (n + spread) / 2), n)
    return float(ordered[low_rank - 1]), float(ordered[high_rank - 1])


def _unsteady(taken: Samples) -> Unsteady | None:
    """The defect of samples in the order taken; too few samples count as steady."""
    step = STEP * abs(float(np.median(taken)))
    if taken.size >= 2 * FEWEST_SAMPLES and _drifts(taken, step):
        return Unsteady.DRIFT
    if taken.size >= 3 * FEWEST_SAMPLES and _has_two_modes(taken, step):
        return Unsteady.MODES
    if taken.size > FEWEST_SAMPLES and _starts_apart(taken, step):
        return Unsteady.START
    return None


def _drifts(taken: Samples, step: float) -> bool:
    """Whether the intervals of the two halves differ, by the same test as for two rows."""
    before, after = taken[: taken.size // 2], taken[taken.size // 2 :]
    (low, high), (later_low, later_high) = _ends(before), _ends(after)
    return max(later_low - high, low - later_high) > 0 and abs(float(np.median(after) - np.median(before))) >= step


def _has_two_modes(taken: Samples, step: float) -> bool:
    """Whether a gap that is wider than the range on either side of it divides the samples."""
    ordered = np.sort(taken)
    few = max(math.ceil(FEWEST_OF_A_MODE * taken.size), 3)
    gaps = np.diff(ordered)[few - 1 : 1 - few]
    place = int(np.argmax(gaps)) + few
    below, above = ordered[:place], ordered[place:]
    gap = float(gaps.max())
    return gap >= step and gap > max(below[-1] - below[0], above[-1] - above[0])


def _starts_apart(taken: Samples, step: float) -> bool:
    """Whether the first sample is further from the others than three times their range."""
    first, others = float(taken[0]), taken[1:]
    least, most = float(others.min()), float(others.max())
    distance = max(least - first, first - most)
    return distance >= step and distance > 3 * (most - least)
