"""How the cost of a barrier grows with its members: lines a + b log2 P where they fit, and overtakings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kumiki.report.analysis.compare import better
from kumiki.results.row import Row

FEWEST = 3
"""The fewest points of a fit: two are always on a line."""
FITS = 0.25
"""A line from which any point deviates by more than this share does not describe how the figures grow."""

Series = Mapping[str, Mapping[int, Row]]
"""Rows by number of members, by the name of the implementation and form."""


@dataclass(frozen=True)
class Growth:
    """The fit by least relative squares to the figures of P members."""

    rows: tuple[Row, ...]
    members: tuple[int, ...]
    fixed: float
    """a, in the unit of the rows."""
    doubling: float
    """b: the time that twice as many members add."""
    miss: float
    """The largest deviation of a point from the line, as a share of the point."""

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
    """Two series of which one is faster with few members and the other with many."""

    few: str
    many: str
    last: int
    """The most members with which `few` is still faster."""
    first: int
    """The fewest with which `many` is."""
    rows: tuple[Row, ...]


def growth(rows: Mapping[int, Row]) -> Growth | None:
    """The line through the rows with a core for each member, or through the oversubscribed ones if those are too few.

    Never through both, because members that share cores follow another law. None with fewer than three rows of a kind.
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
    """Every pair whose faster member changes, as measured."""
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
    if len(changes) != 1:  # none, or so many that chance is involved
        return None
    (last, few), (first, many) = winners[changes[0] - 1], winners[changes[0]]
    rows = tuple(held[members] for members in (last, first) for held in (mine, theirs))
    return Overtaking(few, many, last, first, rows)


def lines_cross(one: Growth, other: Growth) -> float | None:
    """The number of members at which two lines cross, if both fit and it is within the measured range of both."""
    if not (one.fits and other.fits) or one.doubling == other.doubling or one.crowded is not other.crowded:
        return None
    members = 2.0 ** ((other.fixed - one.fixed) / (one.doubling - other.doubling))
    least, most = max(one.members[0], other.members[0]), min(one.members[-1], other.members[-1])
    return members if least <= members <= most else None
