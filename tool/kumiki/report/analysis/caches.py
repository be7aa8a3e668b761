"""Which cache holds what a transfer moves: where one does, its rate is the cache's and not that of memory."""

from __future__ import annotations

from kumiki.report.analysis.model import Results
from kumiki.results.row import Row

COPIES = 2
"""A transfer within a host has its data twice: where they come from, and where they go."""


def levels(results: Results) -> dict[str, int]:
    """The bytes of one cache of each level that holds data, the smallest first: {'L1': 49152, 'L2': ...}."""
    found: dict[str, int] = {}
    for entry in results.environment.get("caches") or ():
        size, level = entry.get("bytes"), entry.get("level")
        if isinstance(size, int) and isinstance(level, int) and entry.get("type") != "instruction":
            found[f"L{level}"] = max(size, found.get(f"L{level}", 0))
    return dict(sorted(found.items(), key=lambda item: item[1]))


def holding(results: Results, row: Row) -> str:
    """The smallest cache that holds what a row of bandwidth within a host moves, again and again; empty for memory."""
    if row.unit != "GB/s" or not moves_within_host(row):
        return ""
    needed = COPIES * row.count("bytes")
    return next((name for name, size in levels(results).items() if needed <= size), "")


def moves_within_host(row: Row) -> bool:
    """Whether it tells of data of some size between two places of one host."""
    return "bytes" in row.parameters and "ranks" in row.parameters and not _between_hosts(row)


def _between_hosts(row: Row) -> bool:
    return row.count("hosts") > 1 or row.text("fabric") == "network" or row.metric.startswith("network.")
