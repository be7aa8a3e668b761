"""How the cost of a barrier grows with its members: lines a + b log2 P where they fit, and overtakings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kumiki.report.analysis.compare import better
from kumiki.results.row import Row

FEWEST = 3
"""Points of a line: two always lie on one."""
FITS = 0.25
"""A line that misses any of its points by more than this share does not say how the figures grow."""

Series = Mapping[str, Mapping[int, Row]]
"""Rows by number of members, under the name of the implementation and form."""


@dataclass(frozen=True)
class Growth:
    """The line of least relative squares through the figures of P members."""

    rows: tuple[Row, ...]
    members: tuple[int, ...]
    fixed: float
    """a, in the unit of the rows."""
    doubling: float
    """b: what twice as many members add."""
    miss: float
    """How far the line is from the worst of its points, as a share of the point."""

    @property
    def fits(self) -> bool:
        return self.miss <= FITS

    def at(self, members: float) -> float:
        return self.fixed + self.doubling * float(np.log2(members))

    @property
    def crowded(self) -> bool:
        return any(row.oversubscribed for row in self.rows)


@dataclass(frozen=True)
class Overtaking:
    """Two series of which one is shown to be faster with few members and the other with many."""

    few: str
    many: str
    last: int
    """The most members with which `few` is still faster."""
    first: int
    """The fewest with which `many` is."""
    rows: tuple[Row, ...]


def growth(rows: Mapping[int, Row]) -> Growth | None:
    """The line through the rows that have a core for each member, or where those are too few, through the others.

    Never through both: where members take turns on a core another law holds. None with fewer than three of a kind.
    """
    usable = {members: row for members, row in sorted(rows.items()) if row.usable and members > 1}
    for crowded in (False, True):
        kind = {members: row for members, row in usable.items() if row.oversubscribed is crowded}
        if len(kind) >= FEWEST:
            return _line_through(kind)
    return None


def _line_through(rows: Mapping[int, Row]) -> Growth:
    steps, times = np.log2(list(rows)), np.array([row.value for row in rows.values()])
    doubling, fixed = np.polyfit(steps, times, 1, w=1 / times)
    miss = float(np.max(np.abs(fixed + doubling * steps - times) / times))
    return Growth(tuple(rows.values()), tuple(rows), float(fixed), float(doubling), miss)


def overtakings(series: Series) -> list[Overtaking]:
    """Every pair of which the faster one changes, as measured."""
    names = list(series)
    found = []
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            made = _overtaking(one, series[one], other, series[other])
            found += [made] if made else []
    return found


def _overtaking(one: str, mine: Mapping[int, Row], other: str, theirs: Mapping[int, Row]) -> Overtaking | None:
    winners = []
    for members in sorted(set(mine) & set(theirs)):
        if better(mine[members], theirs[members]):
            winners.append((members, one))
        elif better(theirs[members], mine[members]):
            winners.append((members, other))
    names = [name for _, name in winners]
    changes = [place for place in range(1, len(names)) if names[place] != names[place - 1]]
    if len(changes) != 1:  # none, or so many that chance has a part in it
        return None
    (last, few), (first, many) = winners[changes[0] - 1], winners[changes[0]]
    rows = tuple(held[members] for members in (last, first) for held in (mine, theirs))
    return Overtaking(few, many, last, first, rows)


def lines_cross(one: Growth, other: Growth) -> float | None:
    """The number of members where two lines cross, where both fit and it lies among the members of both."""
    if not (one.fits and other.fits) or one.doubling == other.doubling or one.crowded is not other.crowded:
        return None
    members = 2.0 ** ((other.fixed - one.fixed) / (one.doubling - other.doubling))
    least, most = max(one.members[0], other.members[0]), min(one.members[-1], other.members[-1])
    return members if least <= members <= most else None
