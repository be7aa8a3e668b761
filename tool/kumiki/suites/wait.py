"""The cost of waiting."""

from __future__ import annotations

from kumiki.suites.model import Grid, KumikiRun, Point, Program, Suite

RANKS = 2
POLICIES = ("adaptive", "spin", "yield", "sleep")
WAIT_SECONDS = 0.2
"""How long the rank waits in one sample."""


def _points(grid: Grid) -> list[Point]:
    return [
        Point(
            suite="wait",
            metric="wait.cpu",
            implementation="kumiki",
            program="wait-cpu",
            arguments=(),
            launcher=KumikiRun(RANKS, options=("--wait", policy)),
            parameters={"ranks": RANKS, "policy": policy, "after_ms": 0},
            unit="%",
            better="lower",
            seconds=0.2 if grid.quick else 1.5,
            sample_seconds=WAIT_SECONDS,
        )
        for policy in POLICIES
    ]


SUITE = Suite(
    name="wait",
    title="Waiting",
    sentence="The share of a core that a waiting rank uses under each policy, and its delay after a signal.",
    headline=("wait.cpu", "wait.wakeup"),
    programs=(Program("wait-cpu"),),
    build=_points,
    seconds=7,
    quick_seconds=7,
)
