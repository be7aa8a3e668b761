"""The report: one HTML file with the tables, figures and advice drawn from the rows of an evaluation.

`write` draws the file; `advice`, `first_of` and `summary` return only the sentences and the tables behind them (for the
command line); `side_by_side` compares several evaluations. Nothing here measures, and no code contains a number of any
machine: everything is computed from the rows, and the advice cites them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kumiki.replacement import replace
from kumiki.report.advisers import Advice, derive
from kumiki.report.advisers.kinds import ALERT
from kumiki.report.analysis.model import Results, ResultsError
from kumiki.report.headlines import headlines
from kumiki.report.own import table
from kumiki.report.own.problem import own_problems
from kumiki.report.platforms.comparison import Comparison
from kumiki.report.platforms.model import Platform
from kumiki.report.tables import Table

__all__ = ["Advice", "Comparison", "ResultsError", "Table", "advice", "first_of", "side_by_side", "summary", "write"]


def advice(
    results: Mapping[str, Any], samples: Mapping[str, Any] | None = None, directory: Path | None = None
) -> list[Advice]:
    """The advice that the rows of `results` (the content of results.json) support, the most important first.

    Without `samples` (the content of samples.json), advice that needs raw samples is left out. `directory` is their
    folder, which commands name.
    """
    return derive(Results.parse(results, samples, directory))


def first_of(advice: Sequence[Advice]) -> list[Advice]:
    """The alerts that decide whether the figures can be used at all, then the three to five most important pieces."""
    return [*(piece for piece in advice if piece.kind == ALERT), *headlines(advice)]


def summary(results: Mapping[str, Any]) -> list[tuple[str, Table]]:
    """The tables of the user's own program with their captions; empty for suites, which print tables as they run."""
    found = [(problem, table.settings(problem)) for problem in own_problems(Results.parse(results))]
    return [(problem.caption, made) for problem, made in found if made]


def side_by_side(sides: Iterable[tuple[str, Mapping[str, Any], Mapping[str, Any] | None]]) -> Comparison:
    """Several platforms: the name of each, and the contents of its results.json and samples.json."""
    return Comparison(tuple(Platform(label, Results.parse(results, samples)) for label, results, samples in sides))


def write(directory: Path) -> Path:
    """Draw `directory/index.html` from its results.json and samples.json and return the path of the page.

    If samples.json is missing, only the parts that need raw samples are left out. Raises ResultsError, naming the file
    and the remedy, if results.json is missing or is not a result of `kumiki evaluate`.
    """
    from kumiki.report.page.html import render  # matplotlib is slow to load, and advice() does not need it

    results = Results.load(directory)
    page = directory / "index.html"
    replace(page, render(results), errors="backslashreplace")
    return page
