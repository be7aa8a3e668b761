"""Efficiency above 100 %: how far it is certain, and where it comes from as far as the rows tell."""

from __future__ import annotations

from collections.abc import Iterable

from kumiki.report.analysis.select import Problem
from kumiki.results.row import Row

SHOWN = 1.005
"""An efficiency from this one on is written as more than 100 %."""


def beyond(problem: Problem, rows: Iterable[Row]) -> list[str]:
    """What is to be said below an exhibit that shows the efficiencies of these rows; nothing where none is so high."""
    above = [row for row in rows if row is not problem.base and (problem.efficiency(row) or 0.0) >= SHOWN]
    certain = [row for row in above if _least(problem, row) > 1.0]
    notes = []
    if any(row.processors == 1 for row in certain):
        notes.append(
            "Efficiency above 100 % on one processor: another form of the program, with faster code than the base "
            "case's; its other efficiencies hold that gain, too."
        )
    forms = {_form(row) for row in certain if row.processors == 1}
    if any(row.processors > 1 and _form(row) not in forms for row in certain):
        notes.append(
            "Efficiency above 100 %: together the processors took less time for their pieces than one took for the "
            "whole. Mostly a piece fits into the caches of its core, and the whole does not."
        )
    if len(certain) < len(above):
        notes.append("Where efficiency is above 100 % within its confidence interval alone, chance may have done it.")
    return notes


def _least(problem: Problem, row: Row) -> float:
    """The efficiency at the slow end of the interval."""
    low, high = row.interval
    slow = problem.speedup(row, high if row.better == "lower" else low)
    return (slow or 0.0) / row.processors


def _form(row: Row) -> tuple[str, str]:
    return row.implementation, row.text("form")
