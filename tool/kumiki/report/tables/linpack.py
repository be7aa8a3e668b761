"""Tables of Linpack: the rate over N, with and without a device, and what one change makes of it."""

from __future__ import annotations

from kumiki.report.analysis import linpack
from kumiki.report.analysis.model import Results
from kumiki.report.quantity import amount, percent, tolerance
from kumiki.report.tables import NOTHING, Cell, Column, Line, Table
from kumiki.results.implementation import title
from kumiki.results.row import Row
from kumiki.suites.linpack import RESIDENT
from kumiki.suites.reference_hpl import NAME

NAMES = {"look_ahead": "look-ahead"}
"""Of parameters, where the report calls them otherwise."""


def over_size(results: Results) -> Table | None:
    """A line for each N, and one for the product; a column for each place that uses all processors."""
    places = linpack.full_places(results)
    sizes = sorted({size for rows in places.values() for size in rows})
    reference = linpack.reference(results)
    series = [*places.values(), *([reference] if reference else [])]
    lines = [Line(f"N = {size}", [_cell(rows.get(size)) for rows in series]) for size in sizes]
    bounds = linpack.bounds(results)
    if bounds:
        cells = [_cell(bounds.get(name)) for name in places]
        lines.append(Line("DGEMM", cells + [NOTHING] * (len(series) - len(places))))
    columns = [Column(f"{name} ranks x threads", noted=True) for name in places]
    columns += [Column(title(NAME), noted=True)] if reference else []
    return Table("size", columns, lines) if sizes else None


def changes(results: Results, names: tuple[str, ...]) -> Table | None:
    """A line for each value of what is changed, with its share of the best."""
    lines = []
    for name, rows in linpack.studies(results, names):
        best = max(row.value for row in rows)
        for row in rows:
            where = Cell(f"{linpack.place(row)}, N = {row.count('n')}, block {row.count('block')}")
            share = Cell(percent(row.value / best), best=row.value == best)
            head = f"{NAMES.get(name, name)} {row.parameters[name]}"
            lines.append(Line(head, [where, _cell(row), share], row.oversubscribed))
    columns = [Column("ranks x threads"), Column("rate", noted=True), Column("of the best")]
    return Table("what is changed", columns, lines) if lines else None


def device(results: Results) -> Table | None:
    """A line for each N: without and with a device, and DGEMM likewise."""
    found = linpack.with_device(results)
    if found is None or not found.together:
        return None
    resident = linpack.with_device(results, RESIDENT)
    lives = resident.together if resident else {}
    columns = [Column("without", noted=True), Column("with device", noted=True), Column("gain")]
    columns += [Column("matrix on the device", noted=True)] if lives else []
    products = bool(found.products)
    columns += [Column("DGEMM without", noted=True), Column("DGEMM with", noted=True)] if products else []
    lines = []
    for size, row in found.together.items():
        alone = found.alone[size]
        cells = [_cell(alone), _cell(row), Cell(f"{row.value / alone.value:.2f}")]
        cells += [_cell(lives.get(size))] if lives else []
        cells += [_cell(each) for each in found.products.get(size, (None, None))] if products else []
        lines.append(Line(f"N = {size}", cells))
    return Table("size", columns, lines)


def mixes(results: Results) -> Table | None:
    """A line for each way in which processes and a device work together."""
    found = linpack.mixes(results)
    best = max((row.value for row in found.values()), default=0.0)
    lines = [
        Line(name, [_cell(row), Cell(percent(row.value / best), best=row.value == best)], row.oversubscribed)
        for name, row in found.items()
    ]
    return Table("processes", [Column("rate", noted=True), Column("of the best")], lines) if len(lines) > 1 else None


def unequal(results: Results) -> Table | None:
    """A line for each way to share the work, with its part of the sum of the DGEMM rates."""
    found = linpack.unequal(results)
    if found is None:
        return None
    best = max(row.value for row in found.ways.values())
    lines = []
    for way, row in found.ways.items():
        part = percent(row.value / found.bound.value) if found.bound else "–"
        where = Cell(f"{linpack.place(row)}, N = {row.count('n')}")
        lines.append(Line(way, [where, _cell(row), Cell(part, best=row.value == best)]))
    if found.bound:
        where = Cell(linpack.place(found.bound))
        lines.append(Line("sum of the DGEMM rates", [where, _cell(found.bound), NOTHING], role="bound"))
    columns = [Column("ranks x threads"), Column("rate", noted=True), Column("of the sum")]
    return Table("how the work is shared", columns, lines)


def _cell(row: Row | None) -> Cell:
    return Cell(amount(row), tolerance(row), row=row.id, crowded=row.oversubscribed) if row else NOTHING
