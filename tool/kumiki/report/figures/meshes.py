"""Speed-up, efficiency or rate over processors with a line for each size of a program."""

from __future__ import annotations

from collections.abc import Sequence

from kumiki.report.analysis.meshes import Mesh
from kumiki.report.figures.canvas import Picture, Sheet
from kumiki.report.figures.scaling import Figure, Series, curve_of, ideal, over_processors
from kumiki.report.palette import TINTS, rank_looks


def by_mesh(name: str, heading: str, meshes: Sequence[Mesh], figure: Figure, cores: int | None) -> Picture | None:
    """None if no line has two points. At most as many lines as there are tints: the largest sizes."""
    drawn = [mesh for mesh in meshes if len(mesh.rows) > 1][-TINTS:]
    if not drawn:
        return None
    looks = rank_looks(range(len(drawn)))
    series = [Series(mesh.problem.label, looks[place], mesh.rows) for place, mesh in enumerate(drawn)]
    curves = [curve_of(mesh.problem, figure, each) for mesh, each in zip(drawn, series, strict=True)]
    rates = [mesh.problem.rate(row) for mesh in drawn for _, row in mesh.rows] if figure == "rate" else []

    def refer(sheet: Sheet, counts: list[int]) -> None:
        if figure != "rate":
            ideal(sheet, figure, counts[-1], min(cores or counts[-1], counts[-1]))

    return over_processors(name, heading, figure, curves, refer, next((rate.unit for rate in rates if rate), ""))
