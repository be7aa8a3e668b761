"""Which cache holds the data of a transfer: if one does, the rate is that of the cache and not of memory."""

from __future__ import annotations

from kumiki.report.analysis.model import Results
from kumiki.results.row import Row

COPIES = 2
"""A transfer within a host occupies memory twice: at the source and at the destination."""


def levels(results: Results) -> dict[str, int]:
    """The bytes of one data cache of each level, the smallest first: {'L1': 49152, 'L2': ...}."""
    found: dict[str, int] = {}
    for entry in results.environment.get("caches") or ():
        size, level = entry.get("bytes"), entry.get("level")
        if isinstance(size, int) and isinstance(level, int) and entry.get("type") != "instruction":
            found[f"L{level}"] = max(size, found.get(f"L{level}", 0))
    return dict(sorted(found.items(), key=lambda item: item[1]))


def last_level(results: Results) -> int | None:
    """The bytes of all caches of the last level; None in a virtual machine, which is shown caches that it shares with
    others.
    """
    caches = [each for each in results.environment.get("caches") or () if each.get("bytes") and each.get("level")]
    if not caches or (results.environment.get("system") or {}).get("virtual_machine"):
        return None
    last = max(int(each["level"]) for each in caches)
    return sum(int(each["bytes"]) * int(each.get("count") or 1) for each in caches if each["level"] == last)


def holding(results: Results, row: Row) -> str:
    """The smallest cache that holds the data of a bandwidth row within a host; empty for memory."""
    if row.unit != "GB/s" or not moves_within_host(row):
        return ""
    needed = COPIES * row.count("bytes")
    return next((name for name, size in levels(results).items() if needed <= size), "")


def moves_within_host(row: Row) -> bool:
    """Whether the row measures data of some size that move between two places of one host."""
    return "bytes" in row.parameters and "ranks" in row.parameters and not _between_hosts(row)


def _between_hosts(row: Row) -> bool:
    return row.count("hosts") > 1 or row.text("fabric") == "network" or row.metric.startswith("network.")
