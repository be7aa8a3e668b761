"""The rows of shared arrays: what single pages cost, and programs whose data are in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kumiki.report.analysis.model import Results
from kumiki.results.row import Row
from kumiki.suites.shared import SUITE_NAME

SUITE = SUITE_NAME
COSTS = {
    "page_miss.time": "read miss",
    "page_upgrade.time": "first write of an interval",
    "diff.time": "written page at a barrier",
    "shared_barrier.time": "barrier, nothing written",
    "shared_scan.bandwidth": "sequential read",
}
"""The figures of single pages, in words."""
_BOUNDS = {
    "page_miss.time": "bound.page_fault",
    "page_upgrade.time": "bound.page_fault",
    "shared_barrier.time": "shared_barrier.time",
    "shared_scan.bandwidth": "shared_scan.bandwidth",
}
"""The metrics of what they are compared with, all by `bound`."""
_PLACE = ("fabric", "mechanism", "copies", "page", "hosts")
_CREW = ("form", "ranks", "threads", "working", "homes", "protocol", "copies", "mechanism", "page", "hosts")
"""The parameters that say how a program was run; the others are its problem."""


@dataclass(frozen=True)
class Cost:
    row: Row
    bound: Row | None
    """Measured beside it in the same place."""

    @property
    def ratio(self) -> float | None:
        return self.row.value / self.bound.value if self.bound else None


def costs(results: Results) -> Iterator[Cost]:
    """The costs of pages, figure after figure."""
    for metric in COSTS:
        bounds = [row for row in results.where(_BOUNDS.get(metric, metric), "bound") if row.usable]
        for row in results.where(metric, "kumiki"):
            if row.usable:
                yield Cost(row, next((bound for bound in bounds if _place(bound) == _place(row)), None))


def _place(row: Row) -> tuple[int | str | None, ...]:
    return tuple(row.parameters.get(name) for name in _PLACE)


@dataclass(frozen=True)
class Placed:
    """A program's run in the form `shared`, and the same problem by puts on as many ranks."""

    row: Row
    puts: Row | None
    transfers: Row | None
    """Pages that were fetched in a run."""
    differences: Row | None
    """Pages whose changes were brought home in a run."""
    different: Row | None
    """Percent of the pages that have another home than the rank that works on them."""


def placed(results: Results) -> Iterator[Placed]:
    """The programs of the suite in the form `shared`."""
    rows = [row for row in results.suite(SUITE) if row.trusted]
    for row in rows:
        if row.usable and row.metric.endswith(".time") and row.text("form") == "shared":
            puts = [other for other in _alike(rows, row, "hybrid") if other.ranks == row.ranks]
            statistics = (
                _statistic(rows, metric, row) for metric in ("page.transfers", "page.differences", "home.different")
            )
            yield Placed(row, next((other for other in puts if other.threads == row.threads), None), *statistics)


def threads(results: Results, of: Row) -> Row | None:
    """The same problem by as many threads on plain memory."""
    found = _alike([row for row in results.suite(SUITE) if row.usable], of, "openmp")
    return next((row for row in found if row.threads == of.processors), None)


def _alike(rows: list[Row], of: Row, form: str) -> list[Row]:
    """The runs of the same program and problem in another form."""
    return [row for row in rows if row.metric == of.metric and row.text("form") == form and problem(row) == problem(of)]


def problem(row: Row) -> tuple[tuple[str, int | str], ...]:
    """The parameters of its problem."""
    return tuple(sorted((name, value) for name, value in row.parameters.items() if name not in _CREW))


def _statistic(rows: list[Row], metric: str, of: Row) -> Row | None:
    """The statistic of a run in shared arrays: its parameters are the run's, and the program's name."""
    wanted = {**of.parameters, "program": of.metric.removesuffix(".time")}
    return next((row for row in rows if row.metric == metric and dict(row.parameters) == wanted), None)
