"""Linpack's rate over N, a curve for each place."""

from __future__ import annotations

from dataclasses import replace

from kumiki.report.analysis import linpack
from kumiki.report.analysis.model import Results
from kumiki.report.figures.canvas import Picture, Sheet, draw, log_axis, spaced
from kumiki.report.palette import Look, rank_looks


def over_size(name: str, results: Results) -> Picture | None:
    """None if no curve has two points."""
    places = {place: rows for place, rows in linpack.by_size(results).items() if len(rows) > 1}
    if not places:
        return None
    shades = dict(zip(places, rank_looks(range(len(places))).values(), strict=True))

    def paint(sheet: Sheet) -> None:
        for place, rows in places.items():
            sheet.curve(list(rows), [row.value for row in rows.values()], shades[place])
            for size, row in rows.items():
                sheet.point(size, row, shades[place])
            sheet.key(f"{place} ranks x threads", shades[place])
        for number, (place, rates) in enumerate(linpack.predictions(results).items()):
            if place in places and len(rates) > 1:
                look = replace(shades[place], marker="", dash="dotted")
                sheet.curve(list(rates), list(rates.values()), look)
                if number == 0:
                    sheet.key("prediction of the model", look, marker=False)
        bounds = [row.value for place, row in linpack.bounds(results).items() if place in places]
        sizes = sorted({size for rows in places.values() for size in rows})
        if bounds:
            look = Look("bound", "", "dashed")
            sheet.curve([sizes[0], sizes[-1]], [max(bounds)] * 2, look, 1.3)
            sheet.key("bound: DGEMM at the shape of an update", look, marker=False)
        sheet.axes.set_xscale("log", base=2)
        log_axis(sheet.axes.xaxis, spaced(sizes), lambda size: f"{size:.0f}")
        sheet.axes.set_ylim(bottom=0)
        sheet.axes.set_xlabel("N")
        sheet.axes.set_ylabel("GFLOP/s")
        sheet.axes.grid(axis="x", visible=False)

    return draw(name, "rate of Linpack over the size of the matrix", paint)
