"""How near a program comes to what bounds it: shares, and what they say, in words."""

from __future__ import annotations

from kumiki.report.analysis.compare import settled
from kumiki.report.analysis.select import Problem
from kumiki.report.quantity import percent
from kumiki.results.row import Row

NEAR, FAR = 0.75, 0.5
"""The share of its bound from which on that is what limits a program, and the one below which it is not."""


def limit(problem: Problem, row: Row) -> Row | None:
    """What bounds a row: the bound on as many threads, or on the most measured where the row used more."""
    bounds = problem.bounds
    return bounds.get(row.processors) or (bounds[max(bounds)] if bounds and row.processors > max(bounds) else None)


def share(problem: Problem, row: Row) -> float | None:
    """Which part of its bound a row reaches; None where that is not known."""
    rate, bound = problem.rate(row), limit(problem, row)
    return rate.value / bound.value if rate and bound else None


def reached(problem: Problem) -> str:
    """What the setting to recommend makes of its bound, in a sentence; empty where rows do not tell."""
    if problem.best_hybrid is None:
        return ""
    row = problem.best_hybrid[1]
    rate, bound, part = problem.rate(row), limit(problem, row), share(problem, row)
    if rate is None or bound is None or part is None or not (settled(rate) and settled(bound)):
        return ""
    setting = problem.option(problem.best_hybrid[0]).strip("`")
    said = f"With {setting} the program reaches {percent(part)} of it"
    if rate.interval[0] > bound.interval[1]:
        return f"{said}, which cannot be: the machine was not in the same state for both, or the bound is wrong."
    if part >= NEAR:
        return f"{said}: {problem.program.bound.near}."
    return f"{said}: {problem.program.bound.far}." if part < FAR else f"{said}."
