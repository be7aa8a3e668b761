"""Budgets on a machine that is slower than estimated."""

from __future__ import annotations

import pytest
from kumiki.evaluation.pace import LEAST_PART, SLACK, Pace
from kumiki.evaluation.plan import Request, plan
from kumiki.suites.model import Point


def usual_points() -> list[Point]:
    return [point for _, points in plan(Request(), 2, 1) for point in points]


def run(slowness: float) -> tuple[float, list[Point]]:
    """Evaluates on a machine on which everything but the budgets takes this many times as long; returns seconds and
    points.
    """
    now = 0.0
    points = usual_points()
    pace = Pace(points, clock=lambda: now)
    measured = []
    for point in points:
        measured.append(pace.next(point))
        now += slowness * point.fixed_seconds + measured[-1].figures * measured[-1].seconds
    return now, measured


def estimate() -> float:
    return sum(point.estimated_seconds for point in usual_points())


def test_as_planned_where_the_estimate_holds() -> None:
    _, measured = run(1.0)
    assert measured == usual_points()


@pytest.mark.parametrize("slowness", [1.3, 1.6, 2.0])
def test_a_slow_machine_takes_shorter_samples_and_not_more_time(slowness: float) -> None:
    seconds, measured = run(slowness)
    assert seconds <= 1.02 * SLACK * estimate()
    for paced, planned in zip(measured, usual_points(), strict=True):
        assert paced.key == planned.key
        assert LEAST_PART * planned.seconds - 0.01 <= paced.seconds <= planned.seconds


def test_points_that_are_left_out_leave_their_time_to_the_others() -> None:
    points = usual_points()
    assert Pace(points, clock=lambda: 0.0).next(points[-1]) == points[-1]


def test_what_quick_points_leave_is_spare() -> None:
    now = 0.0
    points = usual_points()
    pace = Pace(points, clock=lambda: now)
    assert pace.spare() == pytest.approx(0)
    for point in points[:3]:
        pace.next(point)
    now = 1.0
    assert pace.spare() == pytest.approx(sum(point.estimated_seconds for point in points[:3]) - 1.0)
