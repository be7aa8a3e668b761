"""The routines of one MPI: bandwidth over the size of the message, a curve for each."""

from __future__ import annotations

from collections.abc import Mapping

from kumiki.report.figures.canvas import Picture, Sheet, draw
from kumiki.report.figures.message import BANDWIDTH, paint_curve, paint_frame
from kumiki.report.model import Row
from kumiki.report.palette import rank_looks


def bandwidth(name: str, heading: str, curves: Mapping[str, dict[int, Row]]) -> Picture | None:
    found = {routine: rows for routine, rows in curves.items() if len(rows) > 1}
    if not found:
        return None
    looks = rank_looks(range(1, len(found) + 1))

    def paint(sheet: Sheet) -> None:
        for look, (routine, rows) in zip(looks.values(), found.items(), strict=True):
            paint_curve(sheet, rows, look, BANDWIDTH, 1.5)
            sheet.key(routine, look)
        paint_frame(sheet, BANDWIDTH, {(routine, ""): rows for routine, rows in found.items()})

    return draw(name, f"{heading}: bandwidth of its routines over the size of the message", paint)
