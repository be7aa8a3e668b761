"""The rates of a program by size, after Table 2 of the JAMSTEC paper: with the memory bound, its messages, and gosa."""

from __future__ import annotations

from kumiki.report.analysis.compare import best
from kumiki.report.analysis.meshes import SENDRECV
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import Problem, Program, in_order, magnitude, problems
from kumiki.report.quantity import significant, tolerance
from kumiki.report.tables import NOTHING, Cell, Column, Line, Table
from kumiki.results.row import Row

MFLOPS_DIGITS = 4


def by_size(results: Results, program: Program) -> Table | None:
    """A line for each size, the smallest first; None if there is nothing to show."""
    found = [problem for problem in reversed(problems(results, program)) if not problem.variant]
    names = in_order({row.implementation for problem in found for row in problem.form(SENDRECV)}, results.mpis)
    columns = [Column("sequential", "MFLOPS"), Column("memory bound", "MFLOPS"), Column("best Kumiki", "MFLOPS")]
    for name in names:
        columns += [
            Column(f"{results.title(name)}, 1 process", "MFLOPS"),
            Column(f"{results.title(name)}, at its best", "MFLOPS"),
        ]
    columns += [Column("a message", "B"), Column("gosa")]
    lines = [Line(problem.label, _cells(results, problem, names)) for problem in sorted(found, key=magnitude)]
    return Table("size", columns, lines) if lines else None


def agreement(results: Results, program: Program) -> str:
    """How well gosa of all forms agrees, in a sentence; empty if there is nothing to compare."""
    worst = 0.0
    for problem in problems(results, program):
        values = [row.value for row in _gosas(results, problem)]
        if len(values) > 1:
            worst = max(worst, (max(values) - min(values)) / max(values))
    if not any(len(_gosas(results, problem)) > 1 for problem in problems(results, program)):
        return ""
    return (
        f"gosa agrees to a relative {worst:.1e} over all forms and numbers of processes, which sum in different orders."
    )


def _cells(results: Results, problem: Problem, names: list[str]) -> list[Cell]:
    top = problem.best_hybrid
    cells = [
        _rate(problem, problem.sequential),
        _amount(best(row for row in _of(results, "bound", problem) if row.usable)),
        _rate(problem, top[1] if top else None),
    ]
    for name in names:
        rows = [row for row in problem.form(SENDRECV) if row.implementation == name]
        one = next((row for row in rows if row.ranks == 1), None)
        cells += [_rate(problem, one), _rate(problem, best(row for row in rows if row.ranks > 1))]
    message = next(iter(_of(results, "message", problem)), None)
    gosa = next(iter(_gosas(results, problem)), None)
    cells.append(Cell(f"{message.value:.0f}", row=message.id) if message else NOTHING)
    cells.append(Cell(f"{gosa.value:.6g}", row=gosa.id) if gosa else NOTHING)
    return cells


def _of(results: Results, figure: str, problem: Problem) -> list[Row]:
    return [
        row for row in results.where(problem.program.metric(figure)) if set(problem.size) <= set(row.parameters.items())
    ]


def _gosas(results: Results, problem: Problem) -> list[Row]:
    return [row for row in _of(results, "gosa", problem) if row.trusted]


def _rate(problem: Problem, row: Row | None) -> Cell:
    return _amount(problem.rate(row) if row else None)


def _amount(row: Row | None) -> Cell:
    if row is None:
        return NOTHING
    return Cell(significant(row.value, MFLOPS_DIGITS), tolerance(row), row=row.id, crowded=row.oversubscribed)
