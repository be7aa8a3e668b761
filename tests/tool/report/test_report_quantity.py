"""Numbers as text, and comparisons that do not rank equal figures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kumiki.report.analysis.compare import against, better, cheapest, equal, untold
from kumiki.report.figures.canvas import decades, spaced
from kumiki.report.quantity import (
    count_text,
    digits_of,
    enumerate_words,
    percent,
    quantity,
    significant,
    size_text,
    tick,
    tolerance,
)
from kumiki.results.row import Row


def row(median: float, low: float | None, high: float | None, better: str = "lower", n: int = 10) -> Row:
    interval = None if low is None else [low, high]
    return Row.parse(
        {"id": 1, "metric": "a.time", "unit": "us", "better": better, "median": median, "ci95": interval, "n": n}, 0
    )


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0712, "us", "71.2 ns"),
        (1.5, "us", "1.50 µs"),
        (8640.0, "us", "8.64 ms"),
        (999.96, "us", "1.00 ms"),
        (0.5, "s", "500 ms"),
        (12.34, "s", "12.3 s"),
        (0.0639, "GB/s", "63.9 MB/s"),
        (0.0000021, "GB/s", "2.10 kB/s"),
        (32.94, "GB/s", "32.9 GB/s"),
        (3805.2, "Mop/s", "3810 Mop/s"),
    ],
)
def test_quantity(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


def test_ticks_tell_neighbours_apart() -> None:
    texts = ["5 µs", "15 µs", "20 µs", "300 ns", "100 µs"]
    assert [tick(value, "us") for value in (5.0, 15.0, 20.0, 0.3, 100.0)] == texts
    assert tick(1.5, "s") == "1.5 s" and tick(0.03, "GB/s") == "30 MB/s"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.071234, 3, "0.0712"), (9.996, 3, "10.0"), (0, 3, "0"), (1.0, 2, "1.0"), (99.95, 3, "100")],
)
def test_significant(value: float, digits: int, text: str) -> None:
    assert significant(value, digits) == text


def test_digits_follow_the_interval() -> None:
    assert digits_of(row(1.2345, 1.2344, 1.2346)) == 4
    assert digits_of(row(1.2345, 1.23, 1.24)) == 4
    assert digits_of(row(1.2345, 1.20, 1.27)) == 3
    assert digits_of(row(1.2345, 0.8, 1.7)) == 2


def test_a_tolerance_needs_samples() -> None:
    assert tolerance(row(1.0, 0.98, 1.02)) == "± 2.0 %"
    assert tolerance(row(1.0, 0.98, 1.02, n=5)) == "range ± 2.0 %"
    assert tolerance(row(1.0, 1.0, 1.0, n=1)) == ""


def test_counts_and_sizes() -> None:
    assert [size_text(n) for n in (8, 1024, 1536, 64 << 20)] == ["8 B", "1 KiB", "1.50 KiB", "64 MiB"]
    assert [count_text(n) for n in (1800, 4 << 20, 4_000_000)] == ["1800", "4 Mi", "4 million"]
    assert [percent(x) for x in (0.123, 1.0, 0.0004, 0.0, -0.05)] == ["12 %", "100 %", "< 0.1 %", "0 %", "−5.0 %"]
    assert enumerate_words(["a", "b", "c"]) == "a, b and c"


def test_rows_are_equal_only_where_their_intervals_leave_nothing_else() -> None:
    one, same, near, far = row(1.0, 0.98, 1.02), row(1.01, 0.99, 1.03), row(1.1, 1.0, 1.2), row(1.5, 1.4, 1.6)
    assert equal(one, same) and not untold(one, same)
    assert untold(one, near) and not (equal(one, near) or better(one, near) or better(near, one))
    assert better(one, far) and not better(far, one)
    assert against(one, same, "it") == "equal to it within 6 %"
    assert against(one, near, "it") == "not distinguishable from it in these samples"
    assert against(one, far, "it") == "1.50 times as fast as it"
    assert against(far, one, "it") == "slower than it by a factor of 1.50"


def test_direction_of_the_metric_counts() -> None:
    assert better(row(2.0, 1.9, 2.1, "higher"), row(1.0, 0.9, 1.1, "higher"))
    assert not better(row(2.0, 1.9, 2.1, "lower"), row(1.0, 0.9, 1.1, "lower"))


def test_without_a_real_interval_nothing_is_said() -> None:
    assert untold(row(1.0, None, None), row(9.0, 8.9, 9.1))
    assert untold(row(1.0, 1.0, 1.0, n=5), row(9.0, 9.0, 9.0, n=5))


def test_the_cheapest_of_equals_is_chosen() -> None:
    fast, cheap, slow = (
        replace(row(value, 0.99 * value, 1.01 * value), parameters={"ranks": ranks})
        for value, ranks in ((1.0, 8), (1.01, 4), (1.5, 1))
    )
    assert cheapest([fast, cheap, slow]) is cheap
    assert cheapest([fast, slow]) is fast
    assert cheapest([]) is None


def test_ticks() -> None:
    assert spaced([1, 2, 4, 8, 15, 16, 32]) == [1, 2, 4, 8, 16, 32]
    for low, high in ((0.05, 0.15), (1, 7), (0.1, 40), (1e-3, 90)):
        ticks = decades(low, high)
        assert 2 <= len(ticks) <= 10 and low * 0.999 <= ticks[0] and ticks[-1] <= high * 1.001
