"""The routines that send, of each MPI and of Kumiki: their rows by size (after section 2 of the JAMSTEC paper)."""

from __future__ import annotations

from kumiki.report.compare import best
from kumiki.report.model import Results, Row
from kumiki.report.select import in_order

SUITE = "mpi"
SIMPLE = ("send", "sendrecv", "isend")
"""The routines that need no preparation, in the order in which they are preferred."""
PREPARED = ("rsend", "ssend", "bsend")
"""Those that need one, which is part of their time."""


def by_size(results: Results) -> dict[str, dict[int, list[Row]]]:
    """The bandwidths of all routines over the longest chain, for each implementation; empty where none was measured."""
    rows = [row for row in results.suite(SUITE) if row.usable and row.unit == "GB/s" and row.text("scope") != "one"]
    longest = max((row.ranks for row in rows), default=0)
    sizes: dict[str, dict[int, list[Row]]] = {}
    for row in rows:
        if row.ranks == longest and {"routine", "bytes"} <= set(row.parameters):
            sizes.setdefault(row.implementation, {}).setdefault(row.count("bytes"), []).append(row)
    return {name: dict(sorted(sizes[name].items())) for name in in_order(sizes)}


def best_routines(results: Results) -> dict[str, dict[int, Row]]:
    """The row of the highest bandwidth by size, for each implementation."""
    return {
        name: {size: top for size, rows in sizes.items() if (top := best(rows))}
        for name, sizes in by_size(results).items()
    }


def curves(results: Results, implementation: str) -> dict[str, dict[int, Row]]:
    """The rows of one implementation by routine and size."""
    found: dict[str, dict[int, Row]] = {}
    for size, rows in by_size(results).get(implementation, {}).items():
        for row in rows:
            found.setdefault(row.text("routine"), {})[size] = row
    return found
