"""Keeps an evaluation close to its plan on a machine that is slower than estimated."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from kumiki.suites.model import LEAST_SECONDS, Point

SLACK = 1.25
"""An evaluation may take this many times its estimate before the remaining budgets shrink."""
LEAST_PART = 0.25
"""No budget shrinks below this part of itself."""


class Pace:
    """The budgets of points that are measured one after another, in the order given."""

    def __init__(
        self, points: Sequence[Point], allowed: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`allowed`: the seconds that the evaluation may take if all points together are estimated to take less."""
        self._left = deque(points)
        self._clock = clock
        self._start = clock()
        self._estimated = sum(point.estimated_seconds for point in points)
        self._allowed = max(self._estimated, allowed)

    def spare(self) -> float:
        """The seconds that will be left when the remaining points have taken as long as estimated."""
        return self._allowed - sum(each.estimated_seconds for each in self._left) - (self._clock() - self._start)

    def next(self, point: Point) -> Point:
        """The point, with a budget that lets all remaining points finish in time; earlier points count as skipped."""
        while self._left and self._left.popleft() is not point:
            pass
        ahead = [point, *self._left]
        elapsed = self._clock() - self._start
        done = self._estimated - sum(each.estimated_seconds for each in ahead)
        slowness = max(1.0, elapsed / done) if done > 0 else 1.0
        fixed = slowness * sum(each.fixed_seconds for each in ahead)
        wanted = sum(each.figures * each.seconds for each in ahead)
        factor = (SLACK * self._estimated - elapsed - fixed) / wanted if wanted > 0 else 1.0
        if factor >= 1:
            return point
        return replace(point, seconds=round(max(point.seconds * max(factor, LEAST_PART), LEAST_SECONDS), 2))
