"""How close a program comes to its bound: shares, and their meaning in words."""

from __future__ import annotations

from kumiki.report.analysis.compare import settled
from kumiki.report.analysis.select import Problem
from kumiki.report.quantity import percent
from kumiki.results.row import Row

NEAR, FAR = 0.75, 0.5
"""The share of its bound from which the bound limits a program, and the share below which it does not."""


def limit(problem: Problem, row: Row) -> Row | None:
    """The bound of a row: the one with as many threads, or with the most measured if the row used more."""
    bounds = problem.bounds
    return bounds.get(row.processors) or (bounds[max(bounds)] if bounds and row.processors > max(bounds) else None)


def share(problem: Problem, row: Row) -> float | None:
    """The share of its bound that a row reaches; None if it is not known."""
    rate, bound = problem.rate(row), limit(problem, row)
    return rate.value / bound.value if rate and bound else None


def reached(problem: Problem) -> str:
    """The share of the bound that the recommended setting reaches, in a sentence; empty if it is not known."""
    if problem.best_hybrid is None:
        return ""
    row = problem.best_hybrid[1]
    rate, bound, part = problem.rate(row), limit(problem, row), share(problem, row)
    if rate is None or bound is None or part is None or not (settled(rate) and settled(bound)):
        return ""
    setting = problem.option(problem.best_hybrid[0]).strip("`")
    said = f"With {setting} the program reaches {percent(part)} of it"
    if rate.interval[0] > bound.interval[1]:
        return f"{said}, which is impossible: the machine was not in the same state for both, or the bound is wrong."
    if part >= NEAR:
        return f"{said}: {problem.program.bound.near}."
    return f"{said}: {problem.program.bound.far}." if part < FAR else f"{said}."
