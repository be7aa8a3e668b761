"""Comparing rows by the one test of kumiki.results.statistics.

A row is better than another, equal to it, or the samples leave the comparison open; open comparisons are never ranked
and never called equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from kumiki.report.quantity import factor, percent
from kumiki.results.row import Row
from kumiki.results.statistics import EQUAL_WITHIN, FEWEST_SAMPLES, Contrast, contrast

CLEARLY = EQUAL_WITHIN
"""A row that is certainly better by this share wins clearly."""


def gain(a: Row, b: Row) -> Contrast:
    """How many times as good `a` is as `b`, whatever the direction of their metric: above 1, `a` is the better one."""
    first, second = (a, b) if a.better == "lower" else (b, a)
    return contrast(first.summary, second.summary)


def equal(a: Row, b: Row) -> bool:
    """Whether the samples show that the two are the same within 10 %."""
    return gain(a, b).equal


def better(a: Row, b: Row) -> bool:
    """Whether the samples show that `a` is better than `b`."""
    return gain(a, b).differ and (a.value < b.value) == (a.better == "lower")


def no_worse(a: Row, b: Row) -> bool:
    """Whether the samples show that `a` is better than `b` or equal to it."""
    return better(a, b) or equal(a, b)


def untold(a: Row, b: Row) -> bool:
    """Whether the samples leave open how the two compare."""
    return gain(a, b).open


def clearly_better(a: Row, b: Row) -> bool:
    """Whether `a` is better than `b` by at least a tenth, wherever in their intervals the medians are."""
    return gain(a, b).low >= 1 + CLEARLY


def settled(row: Row) -> bool:
    """Whether a figure is known precisely enough to calculate with: to 10 % on either side."""
    low, high = row.interval
    return row.n >= FEWEST_SAMPLES and (high - low) / 2 <= EQUAL_WITHIN * abs(row.value)


def stake(*pairs: tuple[Row, Row]) -> float:
    """The largest proven ratio between the two rows of any pair; 1 if no difference is proven."""
    found = [gain(a, b) for a, b in pairs]
    return max([1.0, *(max(each.low, 1 / each.high) for each in found if each.differ)])


def speed(row: Row) -> float:
    """A figure that grows with quality, whatever the direction of the metric."""
    return row.value if row.better == "higher" else 1.0 / row.value


def best(rows: Iterable[Row]) -> Row | None:
    """The row with the best median; among equal medians the one on the fewest processors."""
    return max(rows, key=lambda row: (speed(row), -row.processors), default=None)


def cheapest(rows: Iterable[Row]) -> Row | None:
    """The row on the fewest processors among the best row and those equal to it; the fastest of several such rows."""
    known = list(rows)
    top = best(known)
    alike = [row for row in known if top is not None and (row is top or equal(row, top))]
    return min(alike, key=lambda row: (row.processors, -speed(row)), default=None)


def within(*pairs: tuple[Row, Row]) -> str:
    """The largest possible difference between the rows of these equal pairs, in words: 'within 4 %'."""
    largest = max(gain(a, b).within for a, b in pairs)
    return f"within {math.ceil(100 * largest)} %" if math.isfinite(largest) else "to the precision of the measurement"


def against(a: Row, b: Row, other: str) -> str:
    """How `a` compares with `b`, which is called `other`: '6 % faster than memcpy', 'equal to ... within ...'."""
    found = gain(a, b)
    if found.open:
        return f"not distinguishable from {other} in these samples"
    if found.equal:
        return f"equal to {other} {within((a, b))}"
    ratio = speed(a) / speed(b)
    if ratio >= 1.2:
        return f"{factor(ratio)} times as fast as {other}"
    if ratio >= 1.0:
        return f"{percent(ratio - 1.0)} faster than {other}"
    if ratio > 1.0 / 1.2:
        return f"{percent(1.0 / ratio - 1.0)} slower than {other}"
    return f"slower than {other} by a factor of {factor(1.0 / ratio)}"
