"""The table of every setting of the user's program."""

from __future__ import annotations

from kumiki.report.analysis.beyond import beyond
from kumiki.report.analysis.select import Setting
from kumiki.report.own.laws import serial_fraction
from kumiki.report.own.problem import OwnProblem
from kumiki.report.quantity import common_scale, factor, percent
from kumiki.report.tables import NOTHING, Cell, Column, Format, Line, Table, cell, derived
from kumiki.results.row import Row


def settings(problem: OwnProblem) -> Table | None:
    """Figure, S_n, P_n and serial fraction of each setting; the sequential form comes first."""
    sequential = [("sequential", problem.sequential)] if problem.sequential else []
    entries = [*sequential, *((_words(problem, setting, row), row) for setting, row in problem.hybrid.items())]
    if not entries:
        return None
    rows = [row for _, row in entries]
    scale, unit = common_scale(rows)
    shape = Format.of(rows, scale)
    chosen = problem.best_hybrid[1] if problem.best_hybrid else None
    lines = []
    for words, row in entries:
        gain, n = problem.speedup(row), row.processors
        tells = gain is not None and n > 1 and row is not problem.base
        cells = [
            cell(row, shape),
            derived(gain, factor, row),
            derived(problem.efficiency(row), percent, row),
            derived(serial_fraction(gain, n, problem.weak), percent, row) if tells else NOTHING,
            Cell(str(row.n)),
        ]
        lines.append(Line(words, cells, row.oversubscribed, "best" if row is chosen else ""))
    heads = [
        Column(problem.metric.partition(".")[2].replace("_", " "), unit, noted=True),
        Column("speed-up"),
        Column("efficiency"),
        Column("serial fraction"),
        Column("runs"),
    ]
    return Table("setting", heads, lines, beyond(problem, rows))


def _words(problem: OwnProblem, setting: Setting, row: Row) -> str:
    """The setting, with the problem size if the work grows with it."""
    size = f", size {row.count('size')}" if problem.weak and "size" in row.parameters else ""
    return problem.option(setting) + size
