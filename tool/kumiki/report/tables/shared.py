"""Tables of shared arrays: what single pages cost, and programs whose data are in them."""

from __future__ import annotations

from kumiki.report.analysis import shared
from kumiki.report.analysis.model import Results
from kumiki.report.quantity import amount, factor, significant, size_text, tolerance
from kumiki.report.tables import NOTHING, Cell, Column, Line, Table
from kumiki.results.row import Row


def costs(results: Results) -> Table | None:
    """A line for each figure in each place, with its ratio to the bound."""
    lines = []
    for cost in shared.costs(results):
        ratio = Cell(factor(cost.ratio)) if cost.ratio is not None else NOTHING
        cells = [Cell(_place(cost.row)), _cell(cost.row), _cell(cost.bound), ratio]
        lines.append(Line(_figure(cost.row), cells, cost.row.oversubscribed))
    columns = [Column("where"), Column("cost", noted=True), Column("bound", noted=True), Column("ratio")]
    return Table("figure", columns, lines) if lines else None


def programs(results: Results) -> Table | None:
    """A line for each program and kind of homes, with its ratios to puts and to threads, and the statistics
    of the paper."""
    lines = []
    for run in shared.placed(results):
        row, threads = run.row, shared.threads(results, run.row)
        cells = [
            _cell(row),
            Cell(factor(row.value / run.puts.value)) if run.puts else NOTHING,
            Cell(factor(row.value / threads.value)) if threads else NOTHING,
            *(Cell(significant(count.value)) if count else NOTHING for count in (run.transfers, run.differences)),
            Cell(f"{significant(run.different.value)} %") if run.different else NOTHING,
        ]
        lines.append(Line(_run(row), cells, row.oversubscribed))
    columns = [
        *(Column("time", noted=True), Column("of puts"), Column("of threads")),
        *(Column("pages fetched"), Column("changes sent home"), Column("other homes")),
    ]
    return Table("program, homes", columns, lines) if lines else None


def _figure(row: Row) -> str:
    words = shared.COSTS[row.metric]
    if "cached" in row.parameters and row.count("cached"):
        return f"{words}, {row.count('cached')} pages cached"
    if "changed" in row.parameters:
        return f"{words}, {size_text(row.count('changed'))} changed"
    return words


def _place(row: Row) -> str:
    if row.text("copies") == "host":
        return "one memory"
    return "between hosts" if row.text("fabric") == "network" else "a copy for each rank"


def _run(row: Row) -> str:
    where = "one memory" if row.text("copies") == "host" else f"{row.text('homes')} homes"
    return f"{row.metric.removesuffix('.time').replace('_', '-')}, {where}"


def _cell(row: Row | None) -> Cell:
    return Cell(amount(row), tolerance(row), row=row.id, crowded=row.oversubscribed) if row else NOTHING
