"""Tables of Linpack: the rate over N, and what one change makes of it."""

from __future__ import annotations

from kumiki.report.analysis import linpack
from kumiki.report.analysis.model import Results
from kumiki.report.quantity import amount, percent, tolerance
from kumiki.report.tables import NOTHING, Cell, Column, Line, Table
from kumiki.results.row import Row


def over_size(results: Results) -> Table | None:
    """A line for each N, and one for the product; a column for each place."""
    places = linpack.by_size(results)
    sizes = sorted({size for rows in places.values() for size in rows})
    lines = [Line(f"N = {size}", [_cell(rows.get(size)) for rows in places.values()]) for size in sizes]
    bounds = linpack.bounds(results)
    if bounds:
        lines.append(Line("DGEMM", [_cell(bounds.get(name)) for name in places]))
    columns = [Column(f"{name} ranks x threads", noted=True) for name in places]
    return Table("size", columns, lines) if sizes else None


def changes(results: Results) -> Table | None:
    """A line for each value of what is changed, with its share of the best."""
    lines = []
    for name, rows in linpack.studies(results).items():
        best = max(row.value for row in rows)
        for row in rows:
            where = Cell(f"{linpack.place(row)}, N = {row.count('n')}")
            share = Cell(percent(row.value / best), best=row.value == best)
            lines.append(Line(f"{name} {row.parameters[name]}", [where, _cell(row), share], row.oversubscribed))
    columns = [Column("ranks x threads"), Column("rate", noted=True), Column("of the best")]
    return Table("what is changed", columns, lines) if lines else None


def _cell(row: Row | None) -> Cell:
    return Cell(amount(row), tolerance(row), row=row.id, crowded=row.oversubscribed) if row else NOTHING
