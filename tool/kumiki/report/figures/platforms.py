"""A line for each platform: speed-up and efficiency over processors, and bandwidth over message size.

After Figures 10 to 33, and 1 to 6, of the JAMSTEC paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kumiki.report.analysis.select import Problem, cores
from kumiki.report.figures.canvas import Picture, Sheet, draw, unlinked
from kumiki.report.figures.message import BANDWIDTH, paint_curve, paint_frame
from kumiki.report.figures.scaling import Curve, Figure, Series, curve_of, ideal, over_processors
from kumiki.report.palette import Look
from kumiki.results.row import Row

APART = 1_000_000
"""The distance between the row numbers of two platforms, so that each tooltip belongs to its own row."""


def scaling(
    name: str, heading: str, problems: Mapping[str, Problem], looks: Mapping[str, Look], figure: Figure
) -> Picture | None:
    """The best setting for each number of processors, by platform."""
    curves = []
    for place, (label, problem) in enumerate(problems.items()):
        rows = [(row.processors, row) for row in problem.best_by_processors()]
        curve = curve_of(problem, figure, Series(label, looks[label], rows))
        points = [(count, replace(point, row=own(point.row, place))) for count, point in curve.points]
        curves.append(Curve(label, looks[label], points))
    usable = max((cores(problem.results) or 1 for problem in problems.values()), default=1)

    def refer(sheet: Sheet, counts: list[int]) -> None:
        ideal(sheet, figure, counts[-1], min(usable, counts[-1]))

    picture = over_processors(name, heading, figure, curves, refer)
    return unlinked(picture) if picture else None


def bandwidth(
    name: str,
    heading: str,
    rows: Mapping[str, Mapping[int, Row]],
    looks: Mapping[str, Look],
    bounds: Mapping[str, tuple[str, Mapping[int, Row]]],
) -> Picture | None:
    """Bandwidth by size, by platform, with the bound of each: its name and rows."""
    curves = {label: dict(sorted(sizes.items())) for label, sizes in rows.items() if len(sizes) > 1}
    if len(curves) < 2:
        return None

    def paint(sheet: Sheet) -> None:
        for place, (label, sizes) in enumerate(curves.items()):
            numbered = {size: own(row, place) for size, row in sizes.items()}
            paint_curve(sheet, numbered, looks[label], BANDWIDTH, 1.6)
            sheet.key(label, looks[label])
            bound, limits = bounds[label]
            if len(limits) > 1:
                sheet.curve(
                    list(limits), [row.value for row in limits.values()], replace(looks[label], dash="dashed"), 1.0
                )
                sheet.note(f"The dashed line of the same colour is the platform's bound: {bound}.")
        above = [row.value for label in curves for row in bounds[label][1].values()]
        paint_frame(sheet, BANDWIDTH, {(label, ""): sizes for label, sizes in curves.items()}, above)

    return unlinked(draw(name, heading, paint))


def own(row: Row, place: int) -> Row:
    """The row of a platform with a number that no other platform's row has."""
    return replace(row, id=row.id + place * APART)
