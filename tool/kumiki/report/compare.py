"""Comparing medians honestly: two rows whose 95 % intervals meet are equal, never ranked."""

from __future__ import annotations

from collections.abc import Iterable

from kumiki.report.model import Row
from kumiki.report.quantity import factor, percent

FEWEST_SAMPLES = 3
"""Below this an interval says nothing."""


def equal(a: Row, b: Row) -> bool:
    """Whether the intervals of the two rows meet. A row without a real interval cannot be told apart from any other."""
    if min(a.n, b.n) < FEWEST_SAMPLES or None in (a.low, a.high, b.low, b.high):
        return True
    (a_low, a_high), (b_low, b_high) = a.interval, b.interval
    return a_low <= b_high and b_low <= a_high


def better(a: Row, b: Row) -> bool:
    """Whether `a` is better than `b` beyond the intervals of both."""
    return not equal(a, b) and speed(a) > speed(b)


def speed(row: Row) -> float:
    """A figure that grows with quality, whatever the direction of the metric."""
    return row.value if row.better == "higher" else 1.0 / row.value


def best(rows: Iterable[Row]) -> Row | None:
    """The row of the best median; among equals in median the one with the fewest processors."""
    return max(rows, key=lambda row: (speed(row), -row.processors), default=None)


def against(a: Row, b: Row, other: str) -> str:
    """How `a` does against `b`, which is called `other`: '6 % faster than memcpy', 'equal to ... within ...'."""
    if equal(a, b):
        return f"equal to {other} within the confidence intervals"
    ratio = speed(a) / speed(b)
    if ratio >= 1.2:
        return f"{factor(ratio)} times as fast as {other}"
    if ratio >= 1.0:
        return f"{percent(ratio - 1.0)} faster than {other}"
    if ratio > 1.0 / 1.2:
        return f"{percent(1.0 / ratio - 1.0)} slower than {other}"
    return f"slower than {other} by a factor of {factor(1.0 / ratio)}"
