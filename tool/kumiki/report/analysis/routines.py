"""The send routines of each MPI and of Kumiki: their rows by size (after section 2 of the JAMSTEC paper)."""

from __future__ import annotations

from dataclasses import dataclass

from kumiki.report.analysis.compare import best
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import in_order
from kumiki.results.row import Row

SUITE = "mpi"
BOUND = "bound"
SIMPLE = ("send", "sendrecv", "isend")
"""The routines that need no preparation, in the order in which they are preferred."""
PREPARED = ("rsend", "ssend", "bsend")
"""Those that need preparation, which is part of their time."""


def by_size(results: Results) -> dict[str, dict[int, list[Row]]]:
    """The bandwidths of all routines over the longest chain, for each implementation; empty if none was measured."""
    sizes: dict[str, dict[int, list[Row]]] = {}
    for row in _of_longest_chain(results):
        if row.text("scope") != "one" and row.implementation != BOUND:
            sizes.setdefault(row.implementation, {}).setdefault(row.count("bytes"), []).append(row)
    return {name: dict(sorted(sizes[name].items())) for name in in_order(sizes)}


def _of_longest_chain(results: Results) -> list[Row]:
    rows = [row for row in results.suite(SUITE) if row.usable and row.unit == "GB/s"]
    longest = max((row.ranks for row in rows), default=0)
    return [row for row in rows if row.ranks == longest and {"routine", "bytes"} <= set(row.parameters)]


def bound(results: Results, scope: str) -> dict[int, Row]:
    """The bound of all routines, by size: a copy by each receiver; of the whole chain (`all`) or of the second rank."""
    rows = [row for row in _of_longest_chain(results) if row.implementation == BOUND and row.text("scope") == scope]
    return {row.count("bytes"): row for row in rows if row.count("rank", 1) == 1}


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


@dataclass(frozen=True)
class OfOne:
    """The figures of single processes of a chain for one routine at one size."""

    row: Row
    """The row of a process that both sends and receives; in a chain of two, of the one that sends."""
    slowest: float
    fastest: float
    """The rates of the slowest and the fastest process: the first of the chain only sends, the last only receives."""


def of_single_processes(results: Results, implementation: str) -> dict[str, dict[int, OfOne]]:
    """The figures that each process of the chain measured itself, by routine and size."""
    found: dict[str, dict[int, dict[int, Row]]] = {}
    for row in _of_longest_chain(results):
        if row.implementation == implementation and row.text("scope") == "one" and "rank" in row.parameters:
            sizes = found.setdefault(row.text("routine"), {})
            sizes.setdefault(row.count("bytes"), {})[row.count("rank")] = row
    return {
        routine: {size: _of_one(processes) for size, processes in sorted(sizes.items())}
        for routine, sizes in found.items()
    }


def _of_one(processes: dict[int, Row]) -> OfOne:
    inner = [rank for rank in processes if 0 < rank < processes[rank].ranks - 1]
    values = [row.value for row in processes.values()]
    return OfOne(processes[min(inner or processes)], min(values), max(values))
