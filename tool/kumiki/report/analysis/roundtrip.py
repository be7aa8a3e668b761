"""Round trips of a message with a reply of 4 bytes, and their share of the raw link (Maestro, Figure 4)."""

from __future__ import annotations

from dataclasses import dataclass

from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import by_bytes, in_order
from kumiki.results.row import Row

METRIC = "message.round_trip"
RAW = {"shm": "bound", "network": "tcp"}
"""The layer below messages, by fabric."""
RAW_TITLES = {"bound": "memcpy and flags", "tcp": "plain TCP"}


@dataclass(frozen=True)
class Share:
    """The share of the raw link's throughput, and the interval of that share."""

    row: Row
    middle: float
    low: float
    high: float

    @property
    def told(self) -> bool:
        """Whether its interval determines it to within a factor of 2."""
        return self.low > 0 and self.high <= 2 * self.low


def round_trips(results: Results, fabric: str) -> dict[str, dict[int, Row]]:
    """The rows by implementation and size; the raw link is the last."""
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
