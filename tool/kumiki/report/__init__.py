"""The report: one HTML file with the tables, figures and advice drawn from the rows of an evaluation.

`write` draws the file, `advice` gives the sentences alone (for the command line). Neither measures anything; neither
knows a number of any machine: whatever they say is computed from the rows and cites them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kumiki.report.advisers import Advice, derive
from kumiki.report.model import Results, ResultsError

__all__ = ["Advice", "ResultsError", "advice", "write"]


def advice(results: dict[str, Any]) -> list[Advice]:
    """The advice that the rows of `results` (the content of results.json) support, the most important first."""
    return derive(Results.parse(results))


def write(directory: Path) -> Path:
    """Draw `directory/index.html` from its results.json and samples.json and return the path of the page.

    A missing samples.json only leaves out what needs raw samples. Raises ResultsError, naming the file and the mend,
    when results.json is missing or is not a result of `kumiki evaluate`.
    """
    from kumiki.report.html import render  # matplotlib is slow to load, and advice() does not need it

    results = Results.load(directory)
    page = directory / "index.html"
    page.write_text(render(results), encoding="utf-8")
    return page
