"""Bandwidth over message size by the length of fragments (after Figure 5 of the Maestro paper)."""

from __future__ import annotations

from kumiki.report.analysis.fragments import curves, length_text
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import OWN_RULE
from kumiki.report.figures.canvas import Picture, Sheet, draw
from kumiki.report.figures.message import BANDWIDTH, paint_curve, paint_frame
from kumiki.report.palette import Look, rank_looks


def by_message_size(name: str, results: Results, fabric: str) -> Picture | None:
    """Log-log, median with its 95 % band; None if fewer than two lengths have a curve."""
    found = curves(results, fabric)
    lengths = [length for length in found if length != OWN_RULE]
    if len(lengths) < 2:
        return None

    def paint(sheet: Sheet) -> None:
        tints = rank_looks(lengths)
        for length in lengths:
            paint_curve(sheet, found[length], tints[length], BANDWIDTH, 1.4)
            sheet.key(f"fragments of {length_text(length)}", tints[length])
        if OWN_RULE in found:
            look = Look("kumiki", "", "dashed")
            paint_curve(sheet, found[OWN_RULE], look, BANDWIDTH, 1.4)
            sheet.key("the library's own rule", look, marker=False)
        paint_frame(sheet, BANDWIDTH, {(str(length), ""): rows for length, rows in found.items()})

    return draw(name, "bandwidth over message size, by the length of fragments", paint)
