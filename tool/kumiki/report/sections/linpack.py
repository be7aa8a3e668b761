"""Linpack: the rate over N, and what one change makes of it."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report.analysis.linpack import SUITE
from kumiki.report.analysis.model import Results
from kumiki.report.figures import linpack as figures
from kumiki.report.page.exhibit import Exhibit, Section
from kumiki.report.tables import linpack as tables
from kumiki.suites.described import TSUBAME


def linpack(results: Results) -> Section:
    intro = (
        "A dense system of equations, solved by LU with partial pivoting as the Linpack benchmark does; each solution "
        "is checked by the residual of HPL."
    )
    return Section.of(results, SUITE, "Linpack", intro, _exhibits(results))


def _exhibits(results: Results) -> Iterator[Exhibit]:
    picture = figures.over_size("linpack-over-size", results)
    if picture:
        yield Exhibit(
            "Figure",
            "The rate of Linpack over N",
            "Operations per second of the whole solution, by ranks and threads. The bound is the product of matrices "
            "that an update consists of, on all threads at once.",
            "Higher is better. The rate approaches the bound as N grows, because the factorisation of panels and the "
            "transfers grow more slowly than the updates.",
            "Figure 5",
            picture=picture,
            source=TSUBAME,
        )
    table = tables.over_size(results)
    if table:
        yield Exhibit(
            "Table",
            "The rate of Linpack by N",
            "The figures of the drawing above; the last line is the product alone.",
            "Higher is better.",
            table=table,
            wide=True,
        )
    table = tables.changes(results)
    if table:
        yield Exhibit(
            "Table",
            "What block, grid and shares change",
            "The rate with one thing changed at a time. Weights: the shares of the process columns; `measured` are by "
            "the speed that was measured.",
            "Higher is better. On processors of one speed equal shares are the best, and a share of two for one "
            "process column shows what a wrong share costs.",
            table=table,
            wide=True,
        )
