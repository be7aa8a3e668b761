"""Round trips of a message with a reply of 4 bytes, and what share of the raw link's they reach (Maestro, Figure 4)."""

from __future__ import annotations

from dataclasses import dataclass

from kumiki.report.model import Results, Row
from kumiki.report.palette import title
from kumiki.report.quantity import percent, size_text
from kumiki.report.select import by_bytes, in_order
from kumiki.report.tables import Column, Line, Table, ranked

METRIC = "message.round_trip"
RAW = {"shm": "bound", "network": "tcp"}
"""What messages are built on, by where they go."""
RAW_TITLES = {"bound": "memcpy and flags", "tcp": "plain TCP"}


@dataclass(frozen=True)
class Share:
    """Of the raw link's throughput, and between what its interval lies."""

    row: Row
    middle: float
    low: float
    high: float


def round_trips(results: Results, fabric: str) -> dict[str, dict[int, Row]]:
    """By implementation and size; the raw link last."""
    rows = [row for row in results.where(METRIC, fabric=fabric) if row.usable]
    raw = RAW[fabric]
    names = sorted(in_order(row.implementation for row in rows), key=lambda name: name == raw)
    return {name: by_bytes(row for row in rows if row.implementation == name) for name in names}


def shares(results: Results, fabric: str) -> dict[str, dict[int, Share]]:
    """The throughput of each implementation by size as a share of the raw link's in the same round trip."""
    found = round_trips(results, fabric)
    raw = found.pop(RAW[fabric], {})
    return {
        name: {size: _share(row, raw[size]) for size, row in rows.items() if size in raw}
        for name, rows in found.items()
        if set(rows) & set(raw)
    }


def _share(row: Row, raw: Row) -> Share:
    (low, high), (raw_low, raw_high) = row.interval, raw.interval
    return Share(row, raw.value / row.value, raw_low / high, raw_high / low)


def raw_title(fabric: str) -> str:
    return RAW_TITLES[RAW[fabric]]


def table(results: Results, fabric: str) -> Table | None:
    """A line for each size, a column for each implementation, with its share of the raw link beside it."""
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
    columns = [Column(title(name), noted=True) for name in names]
    return Table("size", [*columns, Column(f"{raw_title(fabric)} (raw link)")], lines)


def _note(of_raw: dict[str, dict[int, Share]], name: str, size: int) -> str:
    share = of_raw.get(name, {}).get(size)
    return f"{percent(share.middle)} of raw" if share else ""
