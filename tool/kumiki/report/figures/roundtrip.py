"""Round trips over message size, and their share of the raw link (after Figure 4 of the Maestro paper)."""

from __future__ import annotations

from matplotlib.ticker import PercentFormatter

from kumiki.report.analysis.model import Results
from kumiki.report.analysis.roundtrip import RAW, Share, raw_title, round_trips, shares
from kumiki.report.figures.canvas import Picture, Sheet, draw, log_axis
from kumiki.report.figures.message import Quantity, paint_curve, paint_frame
from kumiki.report.palette import Look, looks
from kumiki.report.quantity import size_text

TIME = Quantity("time of a round trip", "us", "round_trip")


def times(name: str, results: Results, fabric: str) -> Picture | None:
    """Log-log, median with its 95 % band, the raw link dashed; None without a curve."""
    curves = {each: rows for each, rows in round_trips(results, fabric).items() if len(rows) > 1}
    if not set(curves) - {RAW[fabric]}:
        return None

    def paint(sheet: Sheet) -> None:
        known = looks(row.implementation for row in results.rows)
        for each, rows in curves.items():
            raw = each == RAW[fabric]
            look = Look("bound", "", "dashed") if raw else known[each]
            paint_curve(sheet, rows, look, TIME, 1.9 if each == "kumiki" else 1.4)
            sheet.key(f"raw link: {raw_title(fabric)}" if raw else results.title(each), look, marker=not raw)
        paint_frame(sheet, TIME, {(each, ""): rows for each, rows in curves.items()})

    return draw(name, "time of a round trip with a reply of 4 bytes over message size", paint)


def share_of_raw(name: str, results: Results, fabric: str) -> Picture | None:
    """The throughput as a share of the raw link's; None without a curve."""
    curves = {each: found for each, found in shares(results, fabric).items() if len(found) > 1}
    if not curves:
        return None

    def paint(sheet: Sheet) -> None:
        known = looks(row.implementation for row in results.rows)
        for each, found in curves.items():
            _curve(sheet, found, known[each])
            sheet.key(results.title(each), known[each])
        axes = sheet.axes
        sizes = sorted({size for found in curves.values() for size in found})
        axes.set_xscale("log", base=2)
        log_axis(axes.xaxis, sizes[:: 1 + len(sizes) // 7], lambda size: size_text(int(size)))
        highest = max(share.middle for found in curves.values() for share in found.values())
        axes.set_ylim(0, max(1.05, 1.15 * highest))
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
        axes.axhline(1.0, color=Look("bound").colour, linestyle="dashed", linewidth=1.2, zorder=2)
        sheet.key(f"raw link: {raw_title(fabric)}", Look("bound", "", "dashed"), marker=False)
        axes.set_xlabel("message size")
        axes.set_ylabel("share of the raw link")

    return draw(name, "share of the raw link's throughput that messages reach, over their size", paint)


def _curve(sheet: Sheet, found: dict[int, Share], look: Look) -> None:
    sizes = list(found)
    sheet.curve(sizes, [share.middle for share in found.values()], look)
    sheet.axes.fill_between(
        sizes,
        [share.low for share in found.values()],
        [share.high for share in found.values()],
        color=look.colour,
        alpha=0.18,
        linewidth=0,
        zorder=2,
    )
    for size, share in found.items():
        sheet.point(size, share.row, look, share.middle, size=3.4)
