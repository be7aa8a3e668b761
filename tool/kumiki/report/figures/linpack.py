"""Linpack's rate over N: a curve for each place, and one with and one without a device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kumiki.report.analysis import linpack
from kumiki.report.analysis.model import Results
from kumiki.report.figures.canvas import Picture, Sheet, draw, log_axis, spaced
from kumiki.report.palette import Look, looks, rank_looks
from kumiki.results.implementation import title
from kumiki.results.row import Row
from kumiki.suites.linpack import OFFLOAD, RESIDENT
from kumiki.suites.reference_hpl import NAME


def over_size(name: str, results: Results) -> Picture | None:
    """None if no curve has two points."""
    places = {place: rows for place, rows in linpack.full_places(results).items() if len(rows) > 1}
    if not places:
        return None
    shades = dict(zip(places, rank_looks(range(len(places))).values(), strict=True))

    def paint(sheet: Sheet) -> None:
        for place, rows in places.items():
            _curve(sheet, rows, shades[place], f"{place} ranks x threads")
        reference = linpack.reference(results)
        if reference:
            _curve(sheet, reference, looks([NAME])[NAME], title(NAME))
        for number, (place, rates) in enumerate(linpack.predictions(results).items()):
            if place in places and len(rates) > 1:
                look = replace(shades[place], marker="", dash="dotted")
                sheet.curve(list(rates), list(rates.values()), look)
                if number == 0:
                    sheet.key("prediction of the model", look, marker=False)
        bounds = [row.value for place, row in linpack.bounds(results).items() if place in places]
        sizes = {size for rows in places.values() for size in rows}
        if bounds:
            look = Look("bound", "", "dashed")
            sheet.curve([min(sizes), max(sizes)], [max(bounds)] * 2, look, 1.3)
            sheet.key("bound: DGEMM at the shape of an update", look, marker=False)
        _axes(sheet, sizes)

    return draw(name, "rate of Linpack over the size of the matrix", paint)


def device(name: str, results: Results) -> Picture | None:
    """Without a device, and with one in each form; None if there are no two sizes."""
    found = linpack.with_device(results)
    if found is None or len(found.together) < 2:
        return None
    without, together, living = rank_looks(range(3)).values()
    resident = linpack.with_device(results, RESIDENT)

    def paint(sheet: Sheet) -> None:
        _curve(sheet, found.alone, without, f"{found.place} ranks x threads alone")
        _curve(sheet, found.together, together, f"with {found.device}")
        if resident is not None:
            _curve(sheet, resident.together, living, "the matrix lives on the device")
        for form, look in ((OFFLOAD, together), (RESIDENT, living)):
            rates = linpack.device_predictions(results, form)
            if len(rates) > 1:
                sheet.curve(list(rates), list(rates.values()), replace(look, marker="", dash="dotted"))
                if form == OFFLOAD:
                    sheet.key("prediction of the model", replace(look, marker="", dash="dotted"), marker=False)
        for number, look in enumerate((without, together)):
            rates = {size: pair[number].value for size, pair in found.products.items()}
            if len(rates) > 1:
                dashed = replace(look, marker="", dash="dashed")
                sheet.curve(list(rates), list(rates.values()), dashed, 1.3)
                sheet.key("bound: DGEMM likewise", dashed, marker=False)
        if found.pays_from is not None:
            sheet.note(f"From N = {found.pays_from} on the device makes every measured run faster.")
        _axes(sheet, found.together)

    return draw(name, "rate of Linpack with and without a device, over the size of the matrix", paint)


def _curve(sheet: Sheet, rows: Mapping[int, Row], look: Look, text: str) -> None:
    sheet.curve(list(rows), [row.value for row in rows.values()], look)
    for size, row in rows.items():
        sheet.point(size, row, look)
    sheet.key(text, look)


def _axes(sheet: Sheet, sizes: Iterable[int]) -> None:
    sheet.axes.set_xscale("log", base=2)
    log_axis(sheet.axes.xaxis, spaced(sorted(sizes)), lambda size: f"{size:.0f}")
    sheet.axes.set_ylim(bottom=0)
    sheet.axes.set_xlabel("N")
    sheet.axes.set_ylabel("GFLOP/s")
    sheet.axes.grid(axis="x", visible=False)
