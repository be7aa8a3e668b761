"""Which points are measured again, and in which order."""

from __future__ import annotations

from dataclasses import replace

from kumiki.evaluation.pace import Pace
from kumiki.evaluation.plan import USUAL_SECONDS, Request, plan
from kumiki.evaluation.settling import MOST_REPEATS, Candidate, repeats
from kumiki.results.row import Row
from kumiki.suites.model import Point, Suite

STAGES = plan(Request(), 2, 1)


def candidate(suite_name: str, seconds: float) -> Candidate:
    suite, points = next(stage for stage in STAGES if stage[0].name == suite_name)
    return Candidate(suite, points[0], seconds)


def row(suite: Suite, metric: str = "", crowded: bool = False) -> Row:
    parsed = Row.parse({"suite": suite.name, "metric": metric or suite.headline[0], "median": 1.0, "converged": False})
    return replace(parsed, oversubscribed=crowded)


def order(rows: dict[str, list[Row]], candidates: list[Candidate], spare: float) -> list[str]:
    left = [spare]
    found = []
    for each in repeats(candidates, lambda point: rows.get(point.suite, []), lambda: left[0]):
        left[0] -= each.seconds
        found.append(f"{each.suite.name} {each.point.again}")
    return found


def test_the_first_screen_comes_first_and_then_the_most_figures_for_the_time() -> None:
    barrier, laplace, waiting = candidate("thread-barrier", 1.0), candidate("laplace", 5.0), candidate("wait", 1.0)
    rows = {
        "thread-barrier": [row(barrier.suite)] * 2,
        "laplace": [row(laplace.suite)],
        "wait": [row(waiting.suite)] * 5,
    }
    once = ["laplace 1", "wait 1", "thread-barrier 1"]
    assert order(rows, [barrier, laplace, waiting], 7.5) == once
    crowded = {**rows, "laplace": [row(laplace.suite, crowded=True)]}
    assert order(crowded, [barrier, laplace, waiting], 7.5) == ["wait 1", "thread-barrier 1", "laplace 1"]
    part = {**rows, "laplace": [row(laplace.suite, "laplace.synchronisation")]}
    assert order(part, [barrier, laplace, waiting], 7.5)[-1] == "laplace 1"


def test_every_open_point_has_its_turn_before_any_has_a_second() -> None:
    barrier, waiting = candidate("thread-barrier", 1.0), candidate("wait", 1.0)
    rows = {"thread-barrier": [row(barrier.suite)], "wait": [row(waiting.suite)]}
    turns = order(rows, [barrier, waiting], 100.0)
    assert turns == [f"{name} {again}" for again in range(1, MOST_REPEATS + 1) for name in ("thread-barrier", "wait")]
    assert order({}, [barrier, waiting], 100.0) == [], "what has settled is not measured again"
    assert order(rows, [barrier, waiting], 0.9) == [], "no repeat begins that would take longer than there is"


def test_the_usual_evaluation_repeats_until_four_minutes_are_nearly_over() -> None:
    points: list[Point] = [point for _, members in STAGES for point in members]
    now = 0.0
    pace = Pace(points, Request().seconds, lambda: now)
    assert Request(suites=("laplace",)).seconds == Request(quick=True).seconds == 0
    for point in points:
        pace.next(point)
        now += point.estimated_seconds
    assert 0 < pace.spare() < USUAL_SECONDS < 240
