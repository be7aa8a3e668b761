"""Time of a barrier over its members, with the line a + b log2 P if it fits (after Table 3 of the COMPaS paper)."""

from __future__ import annotations

from collections.abc import Mapping

from kumiki.report.analysis.growth import FEWEST, growth
from kumiki.report.figures.canvas import WIDE, Picture, Sheet, decades, draw, log_axis, spaced
from kumiki.report.palette import Look
from kumiki.report.quantity import tick
from kumiki.results.row import Row

STEPS = 40
"""The number of segments of a line that is straight on another axis."""


def lines(name: str, series: Mapping[str, tuple[Look, Mapping[int, Row]]]) -> Picture | None:
    """Points with their intervals, and the line through them if it fits; None if no series has enough points."""
    drawn = {text: (look, rows) for text, (look, rows) in series.items() if len(rows) >= FEWEST}
    if not any(growth(rows) for _, rows in drawn.values()):
        return None

    def paint(sheet: Sheet) -> None:
        axes = sheet.axes
        for text, (look, rows) in drawn.items():
            for members, row in rows.items():
                axes.plot([members] * 2, row.interval, color=look.colour, linewidth=1.1, zorder=3)
                sheet.point(members, row, look)
            sheet.key(text, look)
            _line(sheet, rows, look)
        counts = sorted({members for _, rows in drawn.values() for members in rows})
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        log_axis(axes.xaxis, spaced(counts), lambda count: f"{count:.0f}")
        low, high = axes.get_ylim()
        log_axis(axes.yaxis, decades(low, high), lambda value: tick(value, "us"))
        axes.set_xlabel("number of ranks")
        axes.set_ylabel("time of one barrier")
        axes.grid(axis="x", visible=False)

    return draw(name, "time of a barrier over the number of ranks, with the lines that fit", paint, WIDE, 3.4)


def _line(sheet: Sheet, rows: Mapping[int, Row], look: Look) -> None:
    found = growth(rows)
    if found is None or not found.fits:
        return
    first, last = found.members[0], found.members[-1]
    xs = [first * (last / first) ** (step / STEPS) for step in range(STEPS + 1)]
    sheet.curve(xs, [found.at(x) for x in xs], look, 1.3)
