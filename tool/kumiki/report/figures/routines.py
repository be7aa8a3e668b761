"""Routines that send: bandwidth over the size of the message, a curve for each."""

from __future__ import annotations

from collections.abc import Mapping

from kumiki.report.figures.canvas import Picture, Sheet, draw
from kumiki.report.figures.message import BANDWIDTH, paint_curve, paint_frame
from kumiki.report.model import Row
from kumiki.report.palette import Look


def bandwidth(
    name: str, subject: str, curves: Mapping[str, Mapping[int, Row]], looks: Mapping[str, Look]
) -> Picture | None:
    """None where no curve has two points."""
    found = {label: dict(rows) for label, rows in curves.items() if len(rows) > 1}
    if not found:
        return None

    def paint(sheet: Sheet) -> None:
        for label, rows in found.items():
            paint_curve(sheet, rows, looks[label], BANDWIDTH, 1.5)
            sheet.key(label, looks[label])
        paint_frame(sheet, BANDWIDTH, {(label, ""): rows for label, rows in found.items()})

    return draw(name, f"{subject}: bandwidth over the size of the message", paint)
