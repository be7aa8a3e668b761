"""The uncertainty of speed-ups and efficiencies: both the row's and that of the base case."""

from __future__ import annotations

from kumiki.report.analysis.select import Problem
from kumiki.results.row import Row


def speedup_ends(problem: Problem, row: Row) -> tuple[float, float] | None:
    """The least and the largest speed-up that the intervals of a row and of the base case allow; None without one."""
    base = problem.base
    if base is None:
        return None
    if row is base:
        known = problem.speedup(row) or 0.0
        return known, known
    gains = [problem.speedup(row, value) or 0.0 for value in row.interval]
    of_base = [end / base.value if base.better == "lower" else base.value / end for end in base.interval]
    found = [gain * factor for gain in gains for factor in of_base]
    return min(found), max(found)
