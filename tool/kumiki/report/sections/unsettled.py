"""The figures that have not converged, each with its reason: no verdict rests on a difference that they do not show."""

from __future__ import annotations

from kumiki.report.analysis.model import Results
from kumiki.report.analysis.unsettled import reason, unsettled
from kumiki.report.page.exhibit import Exhibit, Section
from kumiki.report.quantity import amount, parameters_text, percent
from kumiki.report.tables import Cell, Column, Line, Table
from kumiki.results.row import Row

MEANINGS = (
    "Too few samples: fewer than six. Drift: the second half of the samples is at a different level than the first. "
    "Two modes: two groups of samples with a gap between them. Scatter: none of these, but the median is not known to "
    "5 %."
)


def unsettled_figures(results: Results) -> Section:
    """A table of these figures; no section if all have converged."""
    rows = sorted(unsettled(results), key=lambda row: (reason(row), row.suite, row.metric))
    section = Section("unsettled", "Figures that have not converged", "Each with its reason.")
    if rows:
        section.exhibits.append(
            Exhibit(
                "Table",
                "Figures that have not converged",
                "The median, half the width of its 95 % interval as a share of it, the samples, and the reason. "
                + MEANINGS,
                "These figures are used for no verdict that their intervals do not allow.",
                table=Table("figure", [Column(head) for head in HEADS], [_line(row) for row in rows]),
                wide=True,
            )
        )
    return section


HEADS = ("of", "setting", "median", "half interval", "samples", "reason")


def _line(row: Row) -> Line:
    low, high = row.interval
    texts = (
        row.title,
        parameters_text(row),
        amount(row),
        percent((high - low) / 2 / row.value),
        str(row.n),
        f"{reason(row)}, more threads than cores" if row.oversubscribed else reason(row),
    )
    cells = [Cell(text, row=row.id, crowded=row.oversubscribed) for text in texts]
    return Line(row.metric, cells, row.oversubscribed)
