"""Efficiency above 100 %: whether it is certain, and its likely cause."""

from __future__ import annotations

from collections.abc import Iterable

from kumiki.report.analysis.select import Problem
from kumiki.report.analysis.uncertainty import speedup_ends
from kumiki.results.row import Row

SHOWN = 1.005
"""From this efficiency on, the text shows more than 100 %."""


def beyond(problem: Problem, rows: Iterable[Row]) -> list[str]:
    """The notes below an exhibit that shows the efficiencies of these rows; empty if none is above 100 %."""
    above = [row for row in rows if row is not problem.base and (problem.efficiency(row) or 0.0) >= SHOWN]
    certain = [row for row in above if _least(problem, row) > 1.0]
    notes = []
    if any(row.processors == 1 for row in certain):
        notes.append(
            "An efficiency above 100 % on one processor means that this form of the program has faster code than the "
            "base case; its other efficiencies include that gain."
        )
    forms = {_form(row) for row in certain if row.processors == 1}
    if any(row.processors > 1 and _form(row) not in forms for row in certain):
        notes.append(
            "An efficiency above 100 % on several processors usually means that each piece fits into the caches of its "
            "core, whereas the whole problem does not."
        )
    if len(certain) < len(above):
        notes.append(
            "If only part of the confidence interval of an efficiency is above 100 %, it may be due to chance."
        )
    return notes


def _least(problem: Problem, row: Row) -> float:
    """The least efficiency that the samples allow."""
    ends = speedup_ends(problem, row)
    return ends[0] / row.processors if ends else 0.0


def _form(row: Row) -> tuple[str, str]:
    return row.implementation, row.text("form")
