"""The figures that have not converged, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumiki.explain.moved import RECORDED
from kumiki.report.analysis.model import Results
from kumiki.results.row import Row
from kumiki.results.statistics import FEWEST_SAMPLES, Unsteady

FEW, DRIFT, MODES, SCATTER = "too few samples", "drift", "two modes", "scatter"
REASONS = (FEW, DRIFT, MODES, SCATTER)
"""In the order in which they are told."""


def unsettled(results: Results) -> list[Row]:
    """Without what single runs have recorded, because no repeat would settle it."""
    return [row for row in results.rows if row.usable and not row.converged and row.metric not in RECORDED]


def reason(row: Row) -> str:
    """The reason why a figure has not converged: one of REASONS."""
    if row.n < FEWEST_SAMPLES:
        return FEW
    return {Unsteady.DRIFT.value: DRIFT, Unsteady.MODES.value: MODES}.get(row.unsteady, SCATTER)


def by_reason(rows: Iterable[Row]) -> dict[str, Sequence[Row]]:
    """The rows of each reason that occurs."""
    known = list(rows)
    found = {each: [row for row in known if reason(row) == each] for each in REASONS}
    return {each: rows for each, rows in found.items() if rows}
