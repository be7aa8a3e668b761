"""Time of a barrier over the number of its members, if there are enough points for a curve."""

from __future__ import annotations

from kumiki.report.figures.canvas import WIDE, Picture, Sheet, decades, draw, log_axis, spaced
from kumiki.report.palette import Look
from kumiki.report.quantity import tick
from kumiki.results.row import Row


def by_members(name: str, series: dict[str, tuple[Look, list[Row]]], members: str) -> Picture | None:
    """One curve per entry of `series` over `members` ("threads" or "ranks")."""
    counts = sorted({row.count(members) for _, rows in series.values() for row in rows})
    if len(counts) < 3:
        return None

    def paint(sheet: Sheet) -> None:
        axes = sheet.axes
        for text, (look, rows) in series.items():
            ordered = sorted(rows, key=lambda row: row.count(members))
            for row in ordered:
                axes.plot([row.count(members)] * 2, row.interval, color=look.colour, linewidth=1.1, zorder=3)
                sheet.point(row.count(members), row, look)
            sheet.curve([row.count(members) for row in ordered], [row.value for row in ordered], look, 1.3)
            sheet.key(text, look if len(ordered) > 1 else look.point)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        log_axis(axes.xaxis, spaced(counts), lambda count: f"{count:.0f}")
        low, high = axes.get_ylim()
        log_axis(axes.yaxis, decades(low, high), lambda value: tick(value, "us"))
        axes.set_xlabel(f"number of {members}")
        axes.set_ylabel("time of one barrier")
        axes.grid(axis="x", visible=False)

    return draw(name, f"time of a barrier over the number of {members}, by implementation", paint, WIDE, 3.0)
