"""The statistics compared with their definitions and with figures from textbooks."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kumiki.results.statistics import Summary, Unsteady, contrast, summarise

NUMBERS = st.floats(min_value=1e-6, max_value=1e6)
SAMPLES = st.lists(NUMBERS, min_size=1, max_size=200)


@given(SAMPLES)
def test_interval_holds_the_median_and_lies_within_the_samples(samples: list[float]) -> None:
    summary = summarise(samples)
    assert summary.median == pytest.approx(statistics.median(samples))
    assert min(samples) <= summary.low <= summary.median <= summary.high <= max(samples)
    assert summary.low in samples and summary.high in samples
    assert summary.n == len(samples)


@given(SAMPLES, st.randoms())
def test_order_of_samples_matters_only_where_it_tells(samples: list[float], chance: random.Random) -> None:
    shuffled = list(samples)
    chance.shuffle(shuffled)
    one, other = summarise(shuffled), summarise(samples)
    assert one.median == other.median
    if Unsteady.DRIFT not in (one.unsteady, other.unsteady):
        assert (one.low, one.high) == (other.low, other.high)


@pytest.mark.parametrize(
    ("n", "low", "high"),
    [
        (1, 1, 1),
        (5, 1, 5),
        (8, 1, 8),
        (10, 1, 10),  # (10 - 6.2)/2 = 1.9; 1 + (10 + 6.2)/2 = 9.1
        (30, 9, 22),  # (30 - 10.7)/2 = 9.6; 1 + (30 + 10.7)/2 = 21.4
        (100, 40, 61),  # (100 - 19.6)/2 = 40.2; 1 + (100 + 19.6)/2 = 60.8
    ],
)
def test_ranks_of_the_interval(n: int, low: int, high: int) -> None:
    ranks = [float(rank) for rank in range(1, n + 1)]
    random.Random(1).shuffle(ranks)
    summary = summarise(ranks)
    assert summary.unsteady is None and (summary.low, summary.high) == (low, high)


def test_interval_covers_the_median_as_often_as_it_says() -> None:
    chance = random.Random(1)
    trials = 2000
    hits = 0
    for _ in range(trials):
        summary = summarise([chance.expovariate(1.0) for _ in range(25)])
        hits += summary.low <= math.log(2) <= summary.high
    assert 0.94 < hits / trials < 0.99


@pytest.mark.parametrize(
    ("samples", "converged"),
    [
        ([1.0], False),
        ([1.0] * 5, False),
        ([1.0] * 6, True),
        ([1.0, 1.04, 1.02, 1.0, 1.01, 1.03], True),
        ([1.0, 1.2, 1.1, 1.0, 1.15, 1.05], False),
        ([0.0] * 6, True),
    ],
)
def test_converged_needs_six_samples_and_a_narrow_interval(samples: list[float], converged: bool) -> None:
    assert summarise(samples).converged is converged


# -- what is wrong with samples ---------------------------------------------------------------------------------


def noisy(middle: float, n: int, chance: random.Random, share: float = 0.01) -> list[float]:
    """Typical times: none is below the minimum, and some are late."""
    return [middle * (1 + share * chance.expovariate(1.0)) for _ in range(n)]


def test_drift_is_found_and_widens_the_interval() -> None:
    chance = random.Random(3)
    for samples in (
        [value * (1 + 0.02 * place) for place, value in enumerate(noisy(1.0, 20, chance))],
        noisy(1.0, 10, chance) + noisy(1.2, 10, chance),
    ):
        summary = summarise(samples)
        assert summary.unsteady is Unsteady.DRIFT
        assert (summary.low, summary.high) == (min(samples), max(samples)) and not summary.converged
    assert summarise(noisy(1.0, 10, chance) + noisy(1.01, 10, chance)).unsteady is None  # too little to matter


def test_two_modes_are_found_and_widen_the_interval() -> None:
    chance = random.Random(4)
    samples = [value for pair in zip(noisy(1.0, 15, chance), noisy(1.3, 15, chance), strict=True) for value in pair]
    summary = summarise(samples)
    assert summary.unsteady is Unsteady.MODES
    assert (summary.low, summary.high) == (min(samples), max(samples)) and not summary.converged


def test_slow_first_run_is_found_and_changes_nothing_else() -> None:
    samples = [1.5, *noisy(1.0, 12, random.Random(5))]
    summary = summarise(samples)
    assert summary.unsteady is Unsteady.START and summary.converged
    assert summarise(samples[1:] + samples[:1]).unsteady is None


SHAPES: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda chance: 1 + 0.05 * chance.gauss(0, 1),
    "late": lambda chance: 1 + 0.1 * chance.expovariate(1.0),
    "very late": lambda chance: 1 + 0.05 * chance.paretovariate(1.5),
    "anywhere": lambda chance: 1 + 0.3 * chance.random(),
    "multiplied": lambda chance: math.exp(0.5 * chance.gauss(0, 1)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [7, 12, 18, 40])
def test_steady_samples_are_seldom_called_unsteady(shape: str, n: int) -> None:
    chance = random.Random(6)
    trials = 400
    found = [summarise([SHAPES[shape](chance) for _ in range(n)]).unsteady for _ in range(trials)]
    assert sum(kind in (Unsteady.DRIFT, Unsteady.MODES) for kind in found) <= 0.02 * trials
    assert sum(kind is Unsteady.START for kind in found) <= 0.04 * trials


# -- the test of two medians ------------------------------------------------------------------------------------


def test_ratio_lies_where_the_two_intervals_allow() -> None:
    found = contrast(Summary(1.0, 0.9, 1.1, 8), Summary(2.0, 1.9, 2.2, 8))
    assert found.ratio == 2.0 and found.low == pytest.approx(1.9 / 1.1) and found.high == pytest.approx(2.2 / 0.9)
    assert found.differ and not found.equal and not found.open


@pytest.mark.parametrize(
    ("second", "verdict"),
    [
        (Summary(1.0, 0.99, 1.01, 8), "equal"),
        (Summary(1.07, 1.065, 1.075, 8), "differ"),
        (Summary(1.015, 1.012, 1.018, 8), "equal"),  # apart, but by too little
        (Summary(1.0, 0.8, 1.2, 8), "open"),  # wide intervals that overlap do not show equality
        (Summary(1.0, 1.0, 1.0, 5), "open"),  # too few
        (Summary(7.1, 5.0, 13.0, 25), "differ"),
    ],
)
def test_verdicts(second: Summary, verdict: str) -> None:
    found = contrast(Summary(1.0, 0.995, 1.005, 8), second)
    assert [name for name in ("differ", "equal", "open") if getattr(found, name)] == [verdict]


def test_twelve_against_seven_microseconds_is_not_equal() -> None:
    """From a report that called them equal: their intervals overlap because they are wide."""
    found = contrast(Summary(12.0, 6.5, 15.0, 10), Summary(7.1, 5.9, 11.0, 10))
    assert found.open and not found.equal


@pytest.mark.parametrize(
    ("first", "second", "differ", "equal"),
    [
        (Summary(0, 0, 0, 9), Summary(0, 0, 0, 9), False, True),
        (Summary(0, 0, 0, 9), Summary(1, 1, 1, 9), True, False),
        (Summary(-0.01, -0.02, 0.01, 9), Summary(1, 0.9, 1.1, 9), True, False),
        (Summary(0.01, -0.02, 0.02, 9), Summary(0.011, -0.01, 0.02, 9), False, False),
    ],
)
def test_figures_of_nothing(first: Summary, second: Summary, differ: bool, equal: bool) -> None:
    for found in (contrast(first, second), contrast(second, first)):
        assert (found.differ, found.equal) == (differ, equal)


@pytest.mark.parametrize(
    ("resolution", "verdict"), [(0.0, "differ"), (0.015, "differ"), (0.02, "open"), (0.03, "equal")]
)
def test_a_difference_below_the_resolution_is_none(resolution: float, verdict: str) -> None:
    """Parts of a run that take next to nothing of it."""
    small, other = Summary(0.002, 0.001, 0.003, 9), Summary(0.02, 0.018, 0.022, 9, resolution=resolution)
    for found in (contrast(small, other), contrast(other, small)):
        assert [name for name in ("differ", "equal", "open") if getattr(found, name)] == [verdict]


@given(SAMPLES, SAMPLES)
def test_verdicts_are_symmetric_and_exclude_each_other(first: list[float], second: list[float]) -> None:
    one, other = summarise(first), summarise(second)
    forth, back = contrast(one, other), contrast(other, one)
    assert [forth.differ, forth.equal, forth.open].count(True) == 1
    assert (forth.differ, forth.equal) == (back.differ, back.equal)
    assert forth.ratio * back.ratio == pytest.approx(1)


@given(NUMBERS, st.integers(6, 20), st.integers(6, 20))
def test_equal_samples_are_equal(value: float, m: int, n: int) -> None:
    assert contrast(summarise([value] * m), summarise([value] * n)).equal


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [6, 9, 15, 40])
def test_false_verdicts_are_as_rare_as_promised(shape: str, n: int) -> None:
    """Equal settings are rarely called different, and settings that differ by a fifth are rarely called equal."""
    chance = random.Random(7)
    trials = 400

    def draw(factor: float = 1.0) -> Summary:
        return summarise([factor * SHAPES[shape](chance) for _ in range(n)])

    assert sum(contrast(draw(), draw()).differ for _ in range(trials)) <= 0.02 * trials
    assert sum(contrast(draw(), draw(1.2)).equal for _ in range(trials)) <= 0.02 * trials


def test_large_differences_are_seen() -> None:
    chance = random.Random(8)
    pairs = [(noisy(1.0, 9, chance), noisy(1.1, 9, chance)) for _ in range(100)]
    assert all(contrast(summarise(one), summarise(other)).differ for one, other in pairs)
