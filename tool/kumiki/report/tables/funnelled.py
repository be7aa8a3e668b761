"""Communication by the master thread only: does its time depend on the number of other threads (F07)?"""

from __future__ import annotations

from dataclasses import dataclass

from kumiki.report.analysis.compare import better, equal
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import Program
from kumiki.report.quantity import factor, percent
from kumiki.report.tables import Cell, Column, Line, Table, ranked
from kumiki.results.row import Row
from kumiki.results.statistics import EQUAL_WITHIN


@dataclass(frozen=True)
class Series:
    """Communication of this number of ranks by the number of their threads."""

    ranks: int
    rows: dict[int, Row]

    @property
    def verdict(self) -> str:
        """How the figures compare with the one for the fewest threads."""
        first, *others = self.rows.values()
        if all(equal(first, other) for other in others):
            return f"the same within {percent(EQUAL_WITHIN)}"
        if any(better(first, other) or better(other, first) for other in others):
            return f"up to {factor(self.spread)} times as long"
        return "the samples do not show it"

    @property
    def spread(self) -> float:
        """The largest median divided by the smallest."""
        values = [row.value for row in self.rows.values()]
        return max(values) / min(values)


def series(results: Results, program: Program) -> list[Series]:
    """The runs by number of ranks in which the masters fetch before all threads compute, as in the paper, if several
    numbers of threads were measured.

    Only runs in which all threads computed count: an oversubscribed rank uses all of them only if told to.
    """
    found: dict[int, dict[int, Row]] = {}
    for row in results.where(program.metric("communication"), "kumiki", form="hybrid", fetch="before"):
        if row.usable and row.ranks > 1 and "working" not in row.parameters:
            known = found.setdefault(row.ranks, {})
            # With a core for each thread both rows mean the same; the one that was requested explicitly is used.
            if row.threads not in known or row.text("all_threads") == "yes":
                known[row.threads] = row
    return [Series(ranks, dict(sorted(rows.items()))) for ranks, rows in sorted(found.items()) if len(rows) > 1]


def table(results: Results, program: Program) -> Table | None:
    """A line for each number of ranks, a column for each number of threads."""
    found = series(results, program)
    counts = sorted({threads for each in found for threads in each.rows})
    lines = []
    for each in found:
        entries = [(each.rows[count], "") if count in each.rows else None for count in counts]
        cells = [
            Cell(cell.text, cell.note, cell.pad, row=cell.row, crowded=cell.crowded)  # none is the best of equals
            for cell in ranked("", entries).cells
        ]
        lines.append(Line(str(each.ranks), [*cells, Cell(each.verdict)], any(cell.crowded for cell in cells)))
    heads = [Column(f"{count} {'thread' if count == 1 else 'threads'}", noted=True) for count in counts]
    return Table("ranks", [*heads, Column("compared with the fewest threads")], lines) if lines else None
