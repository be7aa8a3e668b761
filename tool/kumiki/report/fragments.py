"""Messages by the length of their fragments and by their own size (Maestro, Figure 5)."""

from __future__ import annotations

from dataclasses import dataclass

from kumiki.report.compare import best, equal
from kumiki.report.model import Results, Row
from kumiki.report.quantity import enumerate_words, size_text
from kumiki.report.select import OWN_RULE, fragment_rows
from kumiki.report.tables import Cell, Column, Line, Table, ranked

UNCUT = "all in one"


@dataclass(frozen=True)
class Choice:
    """What is best for messages of one size."""

    size: int
    best: Row
    as_good: list[int]
    """All lengths that are shown to be equal to the best one, and that itself, in ascending order."""
    own: Row | None
    """By the library's own rule."""


def curves(results: Results, fabric: str) -> dict[int, dict[int, Row]]:
    """Rows by size for each length of fragments; those with more than one size."""
    found: dict[int, dict[int, Row]] = {}
    for row in fragment_rows(results, fabric):
        found.setdefault(row.count("fragment"), {})[row.count("bytes")] = row
    return {length: dict(sorted(rows.items())) for length, rows in sorted(found.items()) if len(rows) > 1}


def choices(results: Results, fabric: str) -> list[Choice]:
    """The best length for each size of messages, where several lengths were measured."""
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


def table(results: Results, fabric: str) -> Table | None:
    """A line for each size: the best length, what it brings, and what the library's own rule does."""
    lines = [_line(choice) for choice in choices(results, fabric)]
    columns = [
        Column("best length"),
        Column("bandwidth", noted=True),
        Column("by the library's rule", noted=True),
        Column("as good"),
    ]
    return Table("message", columns, lines) if lines else None


def _line(choice: Choice) -> Line:
    length = choice.best.count("fragment")
    others = [each for each in choice.as_good if each != length]
    figures = ranked("", [(choice.best, ""), (choice.own, "") if choice.own else None])
    return Line(
        size_text(choice.size),
        [
            Cell(_best_text(length, choice.size), row=choice.best.id),
            *figures.cells,
            Cell(enumerate_words([length_text(each) for each in others]) if others else "none"),
        ],
        figures.crowded,
    )


def length_text(length: int) -> str:
    """A length of fragments to the byte: 4048 B is not 4 KiB."""
    return size_text(length) if length % 1024 == 0 else f"{length} B"


def _best_text(length: int, size: int) -> str:
    """One that cuts nothing says so."""
    return length_text(length) if length < size else f"{length_text(length)} ({UNCUT})"
