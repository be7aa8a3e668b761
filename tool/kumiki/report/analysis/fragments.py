"""Messages by the length of their fragments and by their own size (Maestro, Figure 5)."""

from __future__ import annotations

from dataclasses import dataclass

from kumiki.report.analysis.compare import best, equal
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import OWN_RULE
from kumiki.report.quantity import size_text
from kumiki.results.row import Row


@dataclass(frozen=True)
class Choice:
    """The best fragment length for messages of one size."""

    size: int
    best: Row
    as_good: list[int]
    """The best length and all that are equal to it, in ascending order."""
    own: Row | None
    """The row with the length of the library's own rule."""


def _rows(results: Results, fabric: str) -> list[Row]:
    """The bandwidth of messages of every size that were cut into fragments of a fixed length."""
    rows = results.where("fragment.bandwidth", "kumiki", fabric=fabric)
    return [row for row in rows if row.usable and row.count("fragment", -1) >= 0]


def longest_by_length(results: Results, fabric: str) -> dict[int, Row]:
    """The bandwidth of the longest messages by the length of their fragments."""
    rows = _rows(results, fabric)
    size = max((row.count("bytes") for row in rows), default=0)
    found = {row.count("fragment"): row for row in rows if row.count("bytes") == size}
    return dict(sorted(found.items()))


def curves(results: Results, fabric: str) -> dict[int, dict[int, Row]]:
    """Rows by size for each length of fragments; those with more than one size."""
    found: dict[int, dict[int, Row]] = {}
    for row in _rows(results, fabric):
        found.setdefault(row.count("fragment"), {})[row.count("bytes")] = row
    return {length: dict(sorted(rows.items())) for length, rows in sorted(found.items()) if len(rows) > 1}


def choices(results: Results, fabric: str) -> list[Choice]:
    """The best length for each message size, if several lengths were measured."""
    by_size: dict[int, dict[int, Row]] = {}
    for length, rows in curves(results, fabric).items():
        for size, row in rows.items():
            by_size.setdefault(size, {})[length] = row
    made = []
    for size, rows in sorted(by_size.items()):
        own = rows.pop(OWN_RULE, None)
        top = best(rows.values())
        if top is not None and len(rows) > 1:
            made.append(Choice(size, top, [each for each, row in rows.items() if row is top or equal(row, top)], own))
    return made


def length_text(length: int) -> str:
    """A fragment length, exact to the byte: 4048 B is not 4 KiB."""
    return size_text(length) if length % 1024 == 0 else f"{length} B"
