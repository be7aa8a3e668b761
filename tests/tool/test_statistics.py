"""The statistics against their definitions and against figures from textbooks."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kumiki.statistics import rank_test, summarise

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
def test_order_of_samples_does_not_matter(samples: list[float], chance: random.Random) -> None:
    shuffled = list(samples)
    chance.shuffle(shuffled)
    assert summarise(shuffled) == summarise(samples)


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
    summary = summarise([float(rank) for rank in range(1, n + 1)])
    assert (summary.low, summary.high) == (low, high)


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
    [([1.0], False), ([1.0, 1.0], False), ([1.0, 1.0, 1.0], True), ([1.0, 1.2, 1.1], False), ([0.0, 0.0, 0.0], True)],
)
def test_converged_needs_three_samples_and_a_narrow_interval(samples: list[float], converged: bool) -> None:
    assert summarise(samples).converged is converged


def test_rank_test_without_ties() -> None:
    # By hand: U = 0, mean 12.5, variance 25 * 11 / 12 = 22.92, z = 12 / 4.787 = 2.507.
    assert rank_test([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]) == pytest.approx(0.01219, abs=1e-5)


def test_rank_test_with_ties() -> None:
    # By hand: ranks 1, 2.5, 2.5 | 4.5, 4.5, 6, so U = 0; the two ties take 12/30 off 7: variance 9/12 * 6.6 = 4.95.
    assert rank_test([1, 2, 2], [3, 3, 4]) == pytest.approx(math.erfc(4 / math.sqrt(4.95) / math.sqrt(2)))


@given(SAMPLES, SAMPLES)
def test_rank_test_is_symmetric_and_a_probability(first: list[float], second: list[float]) -> None:
    p = rank_test(first, second)
    assert 0 <= p <= 1
    assert p == pytest.approx(rank_test(second, first))


@given(SAMPLES, SAMPLES)
def test_rank_test_looks_at_ranks_only(first: list[float], second: list[float]) -> None:
    assert rank_test([8 * x for x in first], [8 * x for x in second]) == pytest.approx(rank_test(first, second))


@given(NUMBERS, st.integers(1, 20), st.integers(1, 20))
def test_equal_samples_never_differ(value: float, m: int, n: int) -> None:
    assert rank_test([value] * m, [value] * n) == 1.0


def test_false_alarms_are_as_rare_as_promised() -> None:
    chance = random.Random(2)
    trials = 1000
    alarms = sum(
        rank_test([chance.gauss(0, 1) for _ in range(20)], [chance.gauss(0, 1) for _ in range(20)]) < 0.05
        for _ in range(trials)
    )
    assert alarms < 0.08 * trials
