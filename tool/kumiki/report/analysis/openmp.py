"""The rows of OpenMP programs: what constructs cost on each runtime, and programs on one process and on several."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kumiki.explain.moved import RECORDED
from kumiki.report.analysis.compare import best
from kumiki.report.analysis.model import Results
from kumiki.results.row import Row
from kumiki.suites.openmp import FORK_JOIN, OVERHEAD
from kumiki.suites.openmp_point import KUMIKI, LIBGOMP, LIBOMP, SUITE_NAME, TIME, VERIFIED

SUITE = SUITE_NAME
RUNTIMES = (KUMIKI, LIBGOMP, LIBOMP)
FIRST = "first"
_PLACE = ("ranks", "threads", "hosts", "homes")
"""The parameters that say how a program was run; the others are its problem."""
HALVES = 2
"""A round trip is two of what a latency counts."""

Place = tuple[int, int, int]
"""Hosts, ranks, threads of each rank."""


def place(row: Row) -> Place:
    return row.count("hosts"), row.ranks, row.threads


@dataclass(frozen=True)
class Construct:
    """What a construct costs in one place, by runtime."""

    name: str
    place: Place
    rows: Mapping[str, Row]

    @property
    def ours(self) -> Row | None:
        return self.rows.get(KUMIKI)

    @property
    def other(self) -> Row | None:
        """The better one of the other runtimes."""
        return best(row for name, row in self.rows.items() if name != KUMIKI and row.usable)


def constructs(results: Results) -> list[Construct]:
    """The constructs in the order in which they were measured, places with most threads of a process first."""
    found: dict[tuple[Place, str], dict[str, Row]] = defaultdict(dict)
    for row in results.where(OVERHEAD):
        if row.trusted:
            found[place(row), row.text("construct")][row.implementation] = row
    places = sorted({where for where, _ in found}, key=lambda where: (where[:2], -where[2]))
    return [Construct(name, each, rows) for each in places for (where, name), rows in found.items() if where == each]


@dataclass(frozen=True)
class Join:
    """Beginning and ending a region, or a barrier in it, over two processes."""

    row: Row
    barrier: Row | None
    """A barrier of two ranks beside it."""
    put: Row | None
    """Half a round trip of eight bytes."""

    @property
    def barriers(self) -> float | None:
        return self.row.value / self.barrier.value if self.barrier else None

    @property
    def round_trips(self) -> float | None:
        return self.row.value / (HALVES * self.put.value) if self.put else None


def joins(results: Results) -> list[Join]:
    def beside(metric: str, **wanted: str) -> Row | None:
        rows = results.where(metric, KUMIKI, **wanted)
        return next((row for row in rows if row.suite == SUITE and row.usable), None)

    barrier = beside("rank_barrier.time", form="plain")
    put = beside("network.latency", operation="put") or beside("put.latency")
    return [Join(row, barrier, put) for row in results.where(FORK_JOIN, KUMIKI) if row.usable]


@dataclass(frozen=True)
class Solved:
    """One problem of one program: its times."""

    program: str
    problem: Mapping[str, int | str]
    rows: list[Row] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The program, and the part of its problem by which it is known."""
        known = next((str(self.problem[name]) for name in ("variant", "class", "size") if name in self.problem), "")
        return f"{self.program} {known}".rstrip()

    def at(self, implementation: str, where: Place, homes: str = "") -> Row | None:
        for row in self.rows:
            if (row.implementation, place(row), row.text("homes")) == (implementation, where, homes):
                return row
        return None


def solved(results: Results) -> list[Solved]:
    """The problems in the order in which they were measured first."""
    found: dict[tuple[tuple[str, int | str], ...], Solved] = {}
    for row in results.where(TIME):
        if row.usable:
            problem = {name: value for name, value in row.parameters.items() if name not in _PLACE}
            known = found.setdefault(tuple(sorted(problem.items())), Solved(row.text("program"), problem))
            known.rows.append(row)
    return sorted(found.values(), key=lambda each: each.title)


@dataclass(frozen=True)
class Native:
    """A problem on one process, with as many threads on each runtime."""

    title: str
    rows: Mapping[str, Row]
    mpi: Row | None
    """The fastest MPI with as many ranks."""


def native(results: Results) -> Iterator[Native]:
    for each in solved(results):
        own = [row for row in each.rows if row.implementation == KUMIKI and row.ranks == 1]
        ours = max(own, key=lambda row: row.processors, default=None)
        if ours is None:
            continue
        found = {name: row for name in RUNTIMES if (row := each.at(name, place(ours)))}
        yield Native(each.title, found, _mpi(results, each, ours))


def _mpi(results: Results, of: Solved, like: Row) -> Row | None:
    """The fastest MPI with as many processors on as many hosts."""
    rows = [row for row in of.rows if row.implementation in results.mpis]
    return best(row for row in rows if (row.processors, row.count("hosts")) == (like.processors, like.count("hosts")))


@dataclass(frozen=True)
class Spread:
    """A problem on several processes by first touch."""

    title: str
    row: Row
    alone: Row | None
    """On one process with the threads of one of them."""
    mpi: Row | None
    pages: Row | None
    """Pages that moved in a solution."""
    faulting: Row | None
    """The share of the regions' time in page faults, in %."""
    waiting: Row | None
    """The share of it at barriers, in %."""


def spread(results: Results) -> Iterator[Spread]:
    for each in solved(results):
        for row in each.rows:
            if row.implementation == KUMIKI and row.text("homes") == FIRST:
                alone = each.at(LIBGOMP, (1, 1, row.threads))
                recorded = (_recorded(results, metric, row) for metric in RECORDED)
                yield Spread(each.title, row, alone, _mpi(results, each, row), *recorded)


def _recorded(results: Results, metric: str, of: Row) -> Row | None:
    """What the run recorded that had the same parameters; the program adds some of its own to the time."""
    for row in results.where(metric, KUMIKI):
        if all(of.parameters.get(name) == value for name, value in row.parameters.items()):
            return row
    return None


def placements(results: Results) -> Iterator[tuple[Solved, dict[str, Row]]]:
    """The problems that were measured with several placements, and their times by placement."""
    for each in solved(results):
        rows = {row.text("homes"): row for row in each.rows if row.implementation == KUMIKI and row.text("homes")}
        if len(rows) > 1 and FIRST in rows:
            yield each, rows


def verified(results: Results) -> tuple[int, int, int]:
    """Timed solutions that were right, all timed solutions, and the programs that they are of."""
    rows = results.where(VERIFIED)
    right = sum(row.n for row in rows if row.value == 1)
    return right, sum(row.n for row in rows), len({row.text("program") for row in rows})
