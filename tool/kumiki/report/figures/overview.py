"""One line per program that shows it and its peers between zero and the ideal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kumiki.report.figures.canvas import Picture, Sheet, draw
from kumiki.report.palette import Look
from kumiki.results.row import Row

WIDTH = 4.4
"""Inches; narrow enough to keep the text legible on a phone."""
_LINE, _FRAME = 0.42, 0.72
"""Inches of height per line, and for everything else."""


@dataclass(frozen=True)
class Mark:
    """A measured figure of a line."""

    text: str
    """Its entry in the legend."""
    look: Look
    row: Row
    middle: float
    low: float
    high: float
    bound: bool = False


@dataclass(frozen=True)
class Line:
    head: str
    """Its name, and on a second line its figure."""
    marks: list[Mark]


def by_line(
    name: str,
    description: str,
    axis: str,
    lines: Sequence[Line],
    number: Callable[[float], str],
    refer: Callable[[Sheet], None],
) -> Picture:
    """The lines above a common axis that begins at zero; `refer` draws the bounds of all of them."""

    def paint(sheet: Sheet) -> None:
        axes = sheet.axes
        for place, line in enumerate(lines):
            for mark in line.marks:
                _mark(sheet, place, mark)
        refer(sheet)
        axes.set_xlim(0, max(axes.get_xlim()[1], *(mark.high for line in lines for mark in line.marks)) * 1.06)
        axes.xaxis.set_major_formatter(lambda value, _: number(value))
        axes.set_xlabel(axis)
        axes.set_yticks(range(len(lines)), [line.head for line in lines])
        axes.set_ylim(len(lines) - 0.45, -0.7)
        axes.grid(axis="y", visible=False)
        axes.spines["left"].set_visible(False)

    return draw(name, description, paint, WIDTH, _FRAME + _LINE * len(lines))


def _mark(sheet: Sheet, place: int, mark: Mark) -> None:
    axes, look = sheet.axes, mark.look
    if mark.bound:
        sheet.cited[mark.row.id] = mark.row
        axes.plot(
            [mark.middle],
            [place],
            marker="|",
            markersize=13,
            markeredgewidth=1.8,
            linestyle="none",
            color=look.colour,
            zorder=2,
            url=f"#row-{mark.row.id}",
        )
    else:
        axes.plot([mark.low, mark.high], [place] * 2, color=look.colour, linewidth=2.6, alpha=0.5, zorder=3)
        sheet.point(mark.middle, mark.row, look, place)
    sheet.key(mark.text, Look(look.role, "|", "none") if mark.bound else look.point)
