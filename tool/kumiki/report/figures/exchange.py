"""The data that one rank sends to another over the number of ranks, as in the COMPaS paper's radix sort."""

from __future__ import annotations

from collections.abc import Mapping

from kumiki.report.figures.canvas import Picture, Sheet, decades, draw, log_axis
from kumiki.report.palette import Look
from kumiki.report.quantity import size_text
from kumiki.results.row import Row

KIB = 1024


def message_sizes(
    name: str, means: Mapping[int, Row], senders: Mapping[int, list[Row]], bytes_of_all: int
) -> Picture | None:
    """The mean by number of ranks, a faint point for each sender, and all bytes by the square of the ranks."""
    if not means:
        return None

    def paint(sheet: Sheet) -> None:
        look, rule = Look("kumiki"), Look("bound", "", "dashed")
        counts = sorted(means)
        ends = [counts[0] / 1.2, counts[-1] * 1.2]
        sheet.curve(ends, [bytes_of_all / count**2 for count in ends], rule, 1.2)
        sheet.key("all keys ÷ ranks²", rule, marker=False)
        for count, row in means.items():
            sheet.point(count, row, look, row.value * KIB)
        sheet.key("mean over all pairs of ranks", look)
        dots = Look("other-1", "_")
        for count, rows in senders.items():
            for row in rows:
                sheet.point(count, row, dots, row.value * KIB, size=9)
        if senders:
            sheet.key("mean of each sender", dots)
        axes = sheet.axes
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        log_axis(axes.xaxis, counts, lambda count: f"{count:.0f}")
        low, high = axes.get_ylim()
        powers = [2.0**power for power in range(6, 40, 2) if low <= 2**power <= high]
        log_axis(axes.yaxis, powers or decades(low, high), lambda size: size_text(int(size)))
        axes.set_xlabel("ranks")
        axes.set_ylabel("from one rank to another")
        axes.grid(axis="x", visible=False)

    return draw(name, "bytes that one rank sends to another in one sort, over the number of ranks", paint)
