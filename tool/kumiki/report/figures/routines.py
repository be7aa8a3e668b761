"""Send routines: bandwidth over message size, a curve for each."""

from __future__ import annotations

from collections.abc import Mapping

from kumiki.report.analysis.routines import OfOne
from kumiki.report.figures.canvas import Picture, Sheet, draw
from kumiki.report.figures.message import BANDWIDTH, paint_curve, paint_frame
from kumiki.report.palette import Look
from kumiki.results.row import Row


def bandwidth(
    name: str,
    subject: str,
    curves: Mapping[str, Mapping[int, Row]],
    looks: Mapping[str, Look],
    bound: Mapping[int, Row],
) -> Picture | None:
    """None if no curve has two points."""
    found = {label: dict(rows) for label, rows in curves.items() if len(rows) > 1}
    if not found:
        return None

    def paint(sheet: Sheet) -> None:
        for label, rows in found.items():
            paint_curve(sheet, rows, looks[label], BANDWIDTH, 1.5)
            sheet.key(label, looks[label])
        _bound(sheet, bound)
        paint_frame(sheet, BANDWIDTH, {(label, ""): rows for label, rows in found.items()}, _values(bound))

    return draw(name, f"{subject}: bandwidth over message size", paint)


def of_single_processes(
    name: str,
    subject: str,
    found: Mapping[str, Mapping[int, OfOne]],
    looks: Mapping[str, Look],
    bound: Mapping[int, Row],
) -> Picture | None:
    """The same of one process of the chain, with a line at each point from the slowest process to the fastest."""
    curves = {label: sizes for label, sizes in found.items() if len(sizes) > 1}
    if not curves:
        return None

    def paint(sheet: Sheet) -> None:
        for label, sizes in curves.items():
            look = looks[label]
            sheet.curve(list(sizes), [one.row.value for one in sizes.values()], look, 1.5)
            for size, one in sizes.items():
                ends = [one.slowest, one.fastest]
                sheet.axes.plot([size, size], ends, color=look.colour, linewidth=1.0, alpha=0.5, zorder=2)
                sheet.point(size, one.row, look, size=3.4)
            sheet.key(label, look)
        drawn = {(label, ""): {size: one.row for size, one in sizes.items()} for label, sizes in curves.items()}
        _bound(sheet, bound)
        fastest = [one.fastest for sizes in curves.values() for one in sizes.values()]
        paint_frame(sheet, BANDWIDTH, drawn, [*fastest, *_values(bound)])

    return draw(name, f"{subject}: bandwidth of one process over message size", paint)


def _bound(sheet: Sheet, rows: Mapping[int, Row]) -> None:
    if rows:
        look = Look("bound", "", "dashed")
        sheet.curve(list(rows), _values(rows), look, 1.3)
        sheet.key("bound: memcpy", look, marker=False)


def _values(rows: Mapping[int, Row]) -> list[float]:
    return [row.value for row in rows.values()]
