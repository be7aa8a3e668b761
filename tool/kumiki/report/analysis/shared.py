"""The rows of shared arrays: what single pages cost, and programs whose data are in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from kumiki.report.analysis.model import Results
from kumiki.results.row import Row
from kumiki.suites.shared import BY_HAND, SUITE_NAME

SUITE = SUITE_NAME
COSTS = {
    "page_miss.time": "read miss",
    "page_upgrade.time": "first write of an interval",
    "diff.time": "written page at a barrier",
    "page_refresh.time": "page written and read in each interval",
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
_CREW = ("form", "ranks", "threads", "working", "homes", "protocol", "copies", "mechanism", "page", "hosts", "touch")
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


@dataclass(frozen=True)
class Placements:
    """One problem of a program with copies for all ranks, by where the homes of its pages are."""

    alone: Row | None
    """The same problem on one processor."""
    runs: dict[str, dict[int, Placed]]
    """By homes and number of ranks; among the homes is `hand`."""

    @property
    def program(self) -> str:
        return next(iter(self.by_hand.values())).row.metric.removesuffix(".time").replace("_", "-")

    @property
    def by_hand(self) -> dict[int, Placed]:
        return self.runs[BY_HAND]

    @cached_property
    def counts(self) -> list[int]:
        """The numbers of ranks with a placement by hand."""
        return sorted(self.by_hand)

    @property
    def telling(self) -> int | None:
        """The largest number of ranks that have a processor each: what is said of homes is said of it."""
        return max((count for count in self.counts if not self.by_hand[count].row.oversubscribed), default=None)

    def at(self, homes: str, ranks: int) -> Placed | None:
        return self.runs.get(homes, {}).get(ranks)


def placements(results: Results, touch: str = "") -> list[Placements]:
    """The problems whose homes were placed by hand, too. `touch`: `one` where one rank had initialized all pages."""
    found: dict[tuple[object, ...], Placements] = {}
    for run in placed(results):
        row = run.row
        if row.text("copies") != "rank" or row.text("protocol") != "invalidate" or row.text("touch") != touch:
            continue
        alone = next(iter(_alike(list(results.suite(SUITE)), row, "sequential")), None)
        usable = alone if alone and alone.usable else None
        known = found.setdefault((row.metric, problem(row)), Placements(usable, {}))
        known.runs.setdefault(row.text("homes"), {})[row.ranks] = run
    return [each for each in found.values() if BY_HAND in each.runs]


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
