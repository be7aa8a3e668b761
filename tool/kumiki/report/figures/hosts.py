"""Time of a program over the number of hosts or ranks (after Figures 6 and 7 of the Maestro paper)."""

from __future__ import annotations

from collections.abc import Mapping

from kumiki.report.figures.canvas import Picture, Sheet, draw, log_axis, spaced
from kumiki.report.palette import Look
from kumiki.report.quantity import tick
from kumiki.results.row import Row


def over_hosts(
    name: str,
    heading: str,
    series: Mapping[str, tuple[Look, Mapping[int, Row]]],
    counted: str = "hosts, one rank on each",
) -> Picture | None:
    """A line for each implementation, or way to run; the axis of time begins at 0, as the paper's does.

    `counted`: what there are one, two and more of.
    """
    if not series:
        return None

    def paint(sheet: Sheet) -> None:
        axes = sheet.axes
        counts = sorted({count for _, rows in series.values() for count in rows})
        for text, (look, rows) in series.items():
            for count, row in rows.items():
                axes.plot([count] * 2, row.interval, color=look.colour, linewidth=1.1, zorder=3)
                sheet.point(count, row, look)
            sheet.curve(list(rows), [row.value for row in rows.values()], look, 1.3)
            sheet.key(text, look)
        axes.set_xscale("log", base=2)
        log_axis(axes.xaxis, spaced(counts), lambda count: f"{count:.0f}")
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(lambda value, _: tick(value, "s") if value else "0")
        axes.set_xlabel(counted)
        axes.set_ylabel("execution time")
        axes.grid(axis="x", visible=False)

    return draw(name, f"{heading}: execution time over the number of {counted}", paint)
