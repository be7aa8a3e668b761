"""The page map: the home of each page, and its traffic over time."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from matplotlib.patches import Rectangle

from kumiki.explain import traffic as t
from kumiki.explain.record import Kind
from kumiki.report.figures.canvas import WIDE, Picture, Sheet, draw
from kumiki.report.palette import Look, colour

ROLES = ("kumiki", "openmpi", "openmp", "mpich", "central", "ucx", "other-1", "other-2", "other-3", "std")
"""Colours of the ranks, in turn."""
MOST_COLUMNS, MOST_ROWS = 96, 40
MOST_LABELS = 8
HEIGHT = 3.6


@dataclass(frozen=True)
class Grid:
    """The traffic of an array in cells of pages and intervals."""

    pages: t.Column
    """The pages that are shown, by column of the finest grid."""
    columns: int
    rows: int
    intervals: int
    cells: dict[tuple[int, int], Counter[int]]
    """By column and row: transfers by rank."""
    shared: set[tuple[int, int]]
    """Cells in which several ranks wrote one page in one interval."""

    def column(self, place: t.Column) -> t.Column:
        return place * self.columns // max(len(self.pages), 1)


def grid(traffic: t.Traffic, written: t.Writes, area: t.Area) -> Grid | None:
    """None: there was no traffic."""
    events = traffic.where(Kind.FETCH, Kind.DIFFERENCE)
    events = events[traffic.area[events] == area.number]
    if not len(events):
        return None
    # All pages of a short array, and only those that moved of a long one.
    few = area.pages <= 8 * MOST_COLUMNS
    pages = np.arange(area.pages) if few else np.unique(traffic.page[events])
    intervals = int(traffic.interval[events].max()) + 1
    columns, rows = min(len(pages), MOST_COLUMNS), min(intervals, MOST_ROWS)
    made = Grid(pages, columns, rows, intervals, defaultdict(Counter), set())
    across = made.column(np.searchsorted(pages, traffic.page[events]))
    down = traffic.interval[events] * rows // intervals
    for x, y, rank in zip(across.tolist(), down.tolist(), traffic.rank[events].tolist(), strict=True):
        made.cells[x, y][rank] += 1
    own = np.flatnonzero(written.shared() & (written.area == area.number) & np.isin(written.page, pages))
    across = made.column(np.searchsorted(pages, written.page[own]))
    down = np.minimum(written.interval[own] * rows // intervals, rows - 1)
    made.shared.update(zip(across.tolist(), down.tolist(), strict=True))
    return made


def picture(name: str, title: str, traffic: t.Traffic, written: t.Writes, area: t.Area) -> Picture | None:
    """The page map of an array; None without traffic."""
    found = grid(traffic, written, area)
    if found is None:
        return None

    def paint(sheet: Sheet) -> None:
        _traffic(sheet, found)
        _homes(sheet, found, area)
        axes = sheet.axes
        axes.set_xlim(0, found.columns)
        axes.set_ylim(found.rows, -2.2)
        ticks = sorted({0, found.columns // 4, found.columns // 2, 3 * found.columns // 4, found.columns - 1})
        first = [
            int(found.pages[min(tick * len(found.pages) // found.columns, len(found.pages) - 1)]) for tick in ticks
        ]
        axes.set_xticks([tick + 0.5 for tick in ticks], [str(page) for page in first])
        steps = sorted({0, found.rows // 2, found.rows - 1})
        axes.set_yticks([step + 0.5 for step in steps], [str(step * found.intervals // found.rows) for step in steps])
        axes.set_xlabel("page" if len(found.pages) == area.pages else "page (of those that moved)")
        axes.set_ylabel("interval between barriers")
        axes.grid(visible=False)
        axes.tick_params(length=0)

    return draw(name, f"{title}: home and traffic of its pages over time", paint, WIDE, HEIGHT)


def _role(rank: int) -> str:
    return ROLES[rank % len(ROLES)]


def _traffic(sheet: Sheet, found: Grid) -> None:
    most = max(sum(ranks.values()) for ranks in found.cells.values())
    for (x, y), ranks in found.cells.items():
        rank, _ = ranks.most_common(1)[0]
        depth = 0.25 + 0.75 * (sum(ranks.values()) / most) ** 0.5
        sheet.key(f"rank {rank}", Look(_role(rank), "bar"))
        sheet.axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour(_role(rank)), alpha=depth, linewidth=0))
    for x, y in sorted(found.shared & found.cells.keys()):
        sheet.axes.plot([x + 0.5], [y + 0.5], ".", color=colour("ink"), markersize=2.5, zorder=4)
    if found.shared:
        sheet.note("A dot marks false sharing: several ranks wrote one page in one interval.")
    sheet.note("Each cell has the colour of the rank that fetched or sent most of its pages; the darker, the more.")


def _homes(sheet: Sheet, found: Grid, area: t.Area) -> None:
    """The strip above the traffic."""
    homes = area.homes[found.pages]
    column = found.column(np.arange(len(found.pages)))
    for x in range(found.columns):
        known = [int(home) for home in homes[column == x].tolist() if home >= 0]
        if not known:
            continue
        rank = Counter(known).most_common(1)[0][0]
        sheet.key(f"rank {rank}", Look(_role(rank), "bar"))
        sheet.axes.add_patch(Rectangle((x, -2), 1, 1.4, facecolor=colour(_role(rank)), linewidth=0))
    sheet.note("The strip above has the colour of the home at the end; where it is empty, the page has none.")
