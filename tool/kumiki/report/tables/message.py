"""Round trips with their share of the raw link, and the best length of fragments by size, as tables."""

from __future__ import annotations

from kumiki.report.analysis.fragments import Choice, choices, length_text
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.roundtrip import RAW, Share, raw_title, round_trips, shares
from kumiki.report.quantity import enumerate_words, percent, size_text
from kumiki.report.tables import Cell, Column, Line, Table, ranked

UNCUT = "one piece"


def round_trip_table(results: Results, fabric: str) -> Table | None:
    """A line for each size, a column for each implementation with its share of the raw link."""
    found, of_raw = round_trips(results, fabric), shares(results, fabric)
    names = [name for name in found if name != RAW[fabric]]
    sizes = sorted({size for rows in found.values() for size in rows})
    if not names or not sizes:
        return None
    lines = []
    for size in sizes:
        entries = [(found[name][size], _note(of_raw, name, size)) if size in found[name] else None for name in names]
        line = ranked(size_text(size), entries)
        raw = found.get(RAW[fabric], {}).get(size)
        beside = ranked("", [(raw, "") if raw else None]).cells
        lines.append(Line(line.head, [*line.cells, *beside], line.crowded))
    columns = [Column(results.title(name), noted=True) for name in names]
    return Table("size", [*columns, Column(f"{raw_title(fabric)} (raw link)")], lines)


def _note(of_raw: dict[str, dict[int, Share]], name: str, size: int) -> str:
    share = of_raw.get(name, {}).get(size)
    return f"{percent(share.middle)} of raw" if share and share.told else ""


def fragment_table(results: Results, fabric: str) -> Table | None:
    """A line for each size: the best length with its bandwidth, and the bandwidth of the library's own rule."""
    lines = [_line(choice) for choice in choices(results, fabric)]
    columns = [
        Column("best length"),
        Column("bandwidth", noted=True),
        Column("library's rule", noted=True),
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


def _best_text(length: int, size: int) -> str:
    """The length; one that does not cut the message is marked."""
    return length_text(length) if length < size else f"{length_text(length)} ({UNCUT})"
