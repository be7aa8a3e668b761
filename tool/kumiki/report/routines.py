"""The routines that send, of each MPI and of Kumiki: their rows by size (after section 2 of the JAMSTEC paper)."""

from __future__ import annotations

from kumiki.report.compare import best
from kumiki.report.model import Results, Row

SUITE = "mpi"


def by_size(results: Results) -> dict[str, dict[int, list[Row]]]:
    """The bandwidths of all routines, for each implementation; empty where the suite was not measured."""
    sizes: dict[str, dict[int, list[Row]]] = {}
    for row in results.suite(SUITE):
        wanted = row.text("scope") != "one" and row.unit == "GB/s" and "routine" in row.parameters
        if row.usable and wanted and "bytes" in row.parameters:
            sizes.setdefault(row.implementation, {}).setdefault(row.count("bytes"), []).append(row)
    return {name: dict(sorted(found.items())) for name, found in sizes.items()}


def best_routines(results: Results) -> dict[str, dict[int, Row]]:
    """The row of the highest bandwidth by size, for each implementation."""
    return {
        name: {size: top for size, rows in sizes.items() if (top := best(rows))}
        for name, sizes in by_size(results).items()
    }


def curves(results: Results, implementation: str) -> dict[str, dict[int, Row]]:
    """The bandwidth over all senders by routine and size."""
    found: dict[str, dict[int, Row]] = {}
    for row in results.where("routine.bandwidth", implementation, scope="all"):
        if row.usable:
            found.setdefault(row.text("routine"), {})[row.count("bytes")] = row
    return {routine: dict(sorted(sizes.items())) for routine, sizes in found.items()}


def implementations(results: Results) -> list[str]:
    return list(dict.fromkeys(row.implementation for row in results.where("routine.bandwidth") if row.usable))
