"""The velocities on the centre lines of a cavity, beside published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kumiki.report.figures.canvas import Picture, Sheet, draw
from kumiki.report.palette import Look, colour, rank_looks
from kumiki.results.row import Row

AXES = {
    "u": ("height y on the line x = 1/2", "velocity along x, as a share of the lid's"),
    "v": ("place x on the line y = 1/2", "velocity along y, as a share of the lid's"),
}


def centre_line(name: str, component: str, flows: Mapping[int, Sequence[Row]]) -> Picture | None:
    """A line through the computed velocities for each Reynolds number, and a cross at each published velocity."""
    if not any(flows.values()):
        return None
    looks = rank_looks(flows)

    def paint(sheet: Sheet) -> None:
        for reynolds, rows in flows.items():
            places = [float(row.text("place")) for row in rows]
            sheet.curve(places, [row.value for row in rows], looks[reynolds], 1.2)
            for place, row in zip(places, rows, strict=True):
                sheet.point(place, row, looks[reynolds], size=4)
            published = [float(row.text("published")) for row in rows]
            sheet.axes.plot(places, published, "x", color=colour("ink"), markersize=5, zorder=5)
            sheet.key(f"Re = {reynolds}", looks[reynolds])
        sheet.key("published", Look("ink", "X", "none"))
        sheet.axes.set_xlabel(AXES[component][0])
        sheet.axes.set_ylabel(AXES[component][1])

    return draw(name, f"{AXES[component][1]} over the {AXES[component][0]}, computed and published", paint)
