"""The rows of Linpack: its rate over N in each place, and those where one thing is changed."""

from __future__ import annotations

from kumiki.linpack.model import near_square
from kumiki.predict.linpack.measured import machine_of_rows, place_of
from kumiki.predict.linpack.recursion import expected
from kumiki.report.analysis.model import Results
from kumiki.results.row import Row
from kumiki.suites.linpack import BLOCK

SUITE = "linpack"
STUDIED = ("block", "grid", "weights")


def place(row: Row) -> str:
    """Its ranks and threads."""
    return f"{row.ranks} x {row.threads}"


def by_size(results: Results) -> dict[str, dict[int, Row]]:
    """By place and N, the rows with nothing changed."""
    found: dict[str, dict[int, Row]] = {}
    for row in _rates(results):
        rows, columns = near_square(row.ranks)
        if (row.count("block"), row.text("grid"), row.text("weights")) == (BLOCK, f"{rows}x{columns}", "equal"):
            found.setdefault(place(row), {})[row.count("n")] = row
    return {name: dict(sorted(rows.items())) for name, rows in found.items()}


def studies(results: Results) -> dict[str, list[Row]]:
    """By what is changed, the rows that differ in nothing else: of each the largest such set."""
    found: dict[str, list[Row]] = {}
    for name in STUDIED:
        alike: dict[tuple[tuple[str, int | str], ...], list[Row]] = {}
        for row in _rates(results):
            rest = tuple(sorted((key, value) for key, value in row.parameters.items() if key != name))
            alike.setdefault(rest, []).append(row)
        largest = max(alike.values(), key=len, default=[])
        if len(largest) > 1:
            found[name] = sorted(largest, key=lambda row: (row.count(name), row.text(name)))
    return found


def bounds(results: Results) -> dict[str, Row]:
    """By place, the rate of the product."""
    return {place(row): row for row in results.where("dgemm.rate", "bound") if row.suite == SUITE and row.usable}


def predictions(results: Results) -> dict[str, dict[int, float]]:
    """By place and N, what the model expects of the rows with nothing changed; empty if its parts were not measured."""
    machine = machine_of_rows(results.rows, results.samples)
    if machine is None:
        return {}
    expectations = {(run.kinds[0], run.n): expected(machine, run).rate for run in machine.runs}
    found: dict[str, dict[int, float]] = {}
    for name, rows in by_size(results).items():
        for size, row in rows.items():
            kind = place_of(row)
            if (kind, size) in expectations:
                found.setdefault(name, {})[size] = expectations[kind, size]
    return found


def _rates(results: Results) -> list[Row]:
    return [row for row in results.where("linpack.rate", "kumiki") if row.usable]
