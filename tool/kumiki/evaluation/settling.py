"""Which points are measured again when all have been measured once: those with figures that have not converged.

The time that is left goes first to the figures that the first screen of the report is about, and then to where the most
figures can be settled in the least time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from kumiki.results.row import Row
from kumiki.suites.model import Point, Suite

MOST_REPEATS = 4
"""How often a point is measured again if its figures do not converge."""


@dataclass(frozen=True)
class Candidate:
    """A point that has been measured once, and what it took."""

    suite: Suite
    point: Point
    seconds: float
    """The time of its first run, which on this machine is a better estimate than the planned one."""


def repeats(
    candidates: Sequence[Candidate], open_rows: Callable[[Point], Sequence[Row]], spare: Callable[[], float]
) -> Iterator[Candidate]:
    """The points to measure again, one after another, each with its number in `again`.

    Each repeat is a separate run, because some noise differs from run to run. No point is measured a second time before
    every other open point has had its turn. `open_rows` are the figures of a point that have not converged, `spare` the
    seconds that are left; both are asked before each repeat.
    """
    for again in range(1, MOST_REPEATS + 1):
        for each in sorted(candidates, key=lambda candidate: _place(candidate, open_rows(candidate.point))):
            if each.point.may_settle and open_rows(each.point) and spare() > each.seconds:
                yield replace(each, point=replace(each.point, again=again))


def _place(candidate: Candidate, rows: Sequence[Row]) -> tuple[bool, float]:
    """The place in the order of repeats; the smallest is the first."""
    needed = any(candidate.suite.leads and row.metric in candidate.suite.headline for row in rows)
    roomy = not all(row.oversubscribed for row in rows)
    return not (needed and roomy), candidate.seconds / max(len(rows), 1)
