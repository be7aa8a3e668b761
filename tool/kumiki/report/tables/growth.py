"""Tables of the slopes of barriers, and of the barriers that overtake each other."""

from __future__ import annotations

from kumiki.report.analysis.growth import Series, growth, lines_cross, overtakings
from kumiki.report.quantity import enumerate_words, percent, quantity
from kumiki.report.tables import Cell, Column, Line, Table


def slopes(series: Series) -> Table | None:
    """a and b of every implementation that has enough figures, or the statement that they follow no such line."""
    lines = []
    for name, rows in series.items():
        found = growth(rows)
        if found is None:
            continue
        unit = found.rows[0].unit
        line = (quantity(found.fixed, unit, 3), quantity(found.doubling, unit, 3)) if found.fits else ("–", "–")
        verdict = "follows the line" if found.fits else "does not follow a line"
        members = enumerate_words([str(each) for each in found.members])
        cells = [Cell(text) for text in (*line, f"≤ {percent(found.miss)}", members, verdict)]
        lines.append(Line(name, cells, found.crowded))
    names = ("a", "b, per doubling", "largest deviation", "ranks", "the figures")
    return Table("barrier", [Column(each) for each in names], lines) if lines else None


def crossovers(series: Series) -> Table | None:
    """Which barrier overtakes another, between which numbers of ranks, and where their lines cross."""
    lines = []
    for each in overtakings(series):
        one, other = growth(series[each.few]), growth(series[each.many])
        crossing = lines_cross(one, other) if one and other else None
        cells = [
            Cell(each.many),
            Cell(f"up to {each.last}"),
            Cell(f"from {each.first}"),
            Cell(f"{crossing:.1f}" if crossing else "–"),
        ]
        lines.append(Line(each.few, cells, any(row.oversubscribed for row in each.rows)))
    names = ("is overtaken by", "ranks where it is faster", "ranks where the other is", "ranks where the lines cross")
    return Table("barrier", [Column(each) for each in names], lines) if lines else None
