"""Tables with a column for each platform; the best figure of each line, and those equal to it, are in bold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kumiki.report.analysis.beyond import beyond
from kumiki.report.analysis.compare import best
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.routines import best_routines
from kumiki.report.analysis.select import network_rows
from kumiki.report.platforms.model import Contest, Entrant, Platform
from kumiki.report.quantity import factor, parameters_text, percent, plural, size_text, tolerance
from kumiki.report.tables import NETWORK_OPERATIONS, NOTHING, OPERATIONS, Cell, Column, Line, Table, ranked
from kumiki.results.implementation import MPIS, UCX, title
from kumiki.results.row import Row

Figures = Mapping[str, tuple[Row, str]]
"""A platform's figures by the head of their line, each with its note."""

_SIZES = (1 << 10, 4 << 10, 64 << 10, 1 << 20, 4 << 20, 64 << 20)
"""The transfer sizes that are shown: implementations change their protocol between them."""


def across(corner: str, platforms: Sequence[Platform], found: Callable[[Platform], Figures]) -> Table | None:
    """A line for each head that any platform has a figure for."""
    columns = [found(platform) for platform in platforms]
    heads = dict.fromkeys(head for figures in columns for head in figures)
    lines = [ranked(head, [figures.get(head) for figures in columns], linked=False) for head in heads]
    return Table(corner, [Column(platform.label, noted=True) for platform in platforms], lines) if lines else None


def one_processor(contests: Sequence[Contest], platforms: Sequence[Platform]) -> Table | None:
    """The base case of each problem, as a rate if the program reports one (after Table 2 of the JAMSTEC paper)."""

    def figure(entrant: Entrant) -> tuple[Row, str] | None:
        base = entrant.problem.base
        if base is None or base.processors > 1:
            return None
        return entrant.problem.rate(base) or base, tolerance(base)

    return across("problem", platforms, _by_contest(contests, figure))


def at_best(contests: Sequence[Contest], platforms: Sequence[Platform]) -> Table | None:
    """The best time of each problem, and its setting."""

    def figure(entrant: Entrant) -> tuple[Row, str] | None:
        top = entrant.top
        if top is None:
            return None
        alone = top is entrant.problem.sequential
        return top, "sequential" if alone else entrant.problem.option((top.ranks, top.threads)).strip("`")

    return across("problem", platforms, _by_contest(contests, figure))


def by_processors(contest: Contest, platforms: Sequence[Platform]) -> Table | None:
    """Time, speed-up and efficiency of the best setting for each number of processors."""
    problems = {entrant.platform.label: entrant.problem for entrant in contest.entrants}

    def found(platform: Platform) -> Figures:
        problem = problems.get(platform.label)
        rows = problem.best_by_processors() if problem else []
        figures = {}
        for row in rows:
            gain, share = (problem.speedup(row), problem.efficiency(row)) if problem else (None, None)
            figures[plural(row.processors, "processor")] = (
                row,
                "" if gain is None or share is None else (f"{factor(gain)} times, {percent(share)}"),
            )
        return figures

    table = across("", platforms, found)
    notes = [note for problem in problems.values() for note in beyond(problem, problem.best_by_processors())]
    return table and Table(
        table.corner,
        table.columns,
        sorted(table.lines, key=lambda line: int(line.head.split()[0])),
        list(dict.fromkeys(notes)),
    )


def memory_bus(platforms: Sequence[Platform]) -> Table | None:
    """The highest rate of each operation, and with how many threads."""

    def found(platform: Platform) -> Figures:
        figures = {}
        for operation, words in OPERATIONS.items():
            rows = _usable(platform.results.where(f"memory.{operation}"))
            if top := best(row for row in rows if not row.oversubscribed):
                figures[words] = top, plural(top.threads, "thread")
        return figures

    return across("operation", platforms, found)


def shortest(platforms: Sequence[Platform]) -> Table | None:
    """The cost of the shortest messages and barriers, with Kumiki and with MPI."""

    def found(platform: Platform) -> Figures:
        return {
            f"{_operation(row)}, {title(row.implementation)}": (row, tolerance(row))
            for row in _shortest(platform.results)
        }

    return across("operation", platforms, found)


def bandwidth(platforms: Sequence[Platform]) -> Table | None:
    """The highest bandwidth between two ranks by size, and the operation that reaches it."""

    def found(platform: Platform) -> Figures:
        results = platform.results
        rows = [
            *(row for name in ("put", "get", "send", "message") for row in results.where(f"{name}.bandwidth")),
            *(row for row in network_rows(results, "network.bandwidth")),
        ]
        figures = {}
        for size in _SIZES:
            fitting = (r for r in _usable(rows) if r.count("bytes", 0) == size and r.implementation in _movers(results))
            if top := best(fitting):
                figures[size_text(size)] = top, f"{title(top.implementation)}, {_operation(top)}"
        return figures

    return across("size", platforms, found)


def routines(platforms: Sequence[Platform]) -> Table | None:
    """The routine of the highest bandwidth by size, for each implementation."""

    def found(platform: Platform) -> Figures:
        return {
            f"{title(implementation)}, {size_text(size)}": (row, row.text("routine"))
            for implementation, rows in best_routines(platform.results).items()
            for size, row in rows.items()
        }

    return across("size", platforms, found)


def everything(platforms: Sequence[Platform]) -> Table | None:
    """Every figure that two platforms or more have."""

    def found(platform: Platform) -> Figures:
        return {_words(row): (row, tolerance(row)) for row in platform.results.rows if row.usable}

    table = across("figure", platforms, found)
    if table is None:
        return None
    shared = [line for line in table.lines if sum(cell is not NOTHING for cell in line.cells) > 1]
    return Table(table.corner, table.columns, shared) if shared else None


def machines(platforms: Sequence[Platform]) -> Table:
    """A description of each platform (after Table 1 of the JAMSTEC paper)."""
    columns = [_facts(platform.results.environment) for platform in platforms]
    heads = dict.fromkeys(head for facts in columns for head in facts)
    lines = [
        Line(head, [Cell(facts[head]) if facts.get(head) else NOTHING for facts in columns])
        for head in heads
        if any(facts.get(head) for facts in columns)
    ]
    return Table("", [Column(platform.label) for platform in platforms], lines)


def _by_contest(
    contests: Sequence[Contest], figure: Callable[[Entrant], tuple[Row, str] | None]
) -> Callable[[Platform], Figures]:
    def found(platform: Platform) -> Figures:
        entrants = [(c.title, e) for c in contests for e in c.entrants if e.platform is platform]
        return {words: entry for words, entrant in entrants if (entry := figure(entrant))}

    return found


def _movers(results: Results) -> tuple[str, ...]:
    """Kumiki and each MPI."""
    return ("kumiki", *results.mpis)


def _usable(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row.usable]


def _shortest(results: Results) -> Iterable[Row]:
    """One row for each operation and implementation: the smallest of its placements and forms."""
    kinds: dict[tuple[str, str], list[Row]] = {}
    movers = _movers(results)
    for row in _usable(results.rows):
        name = row.metric.partition(".")[2]
        barrier = row.metric == "rank_barrier.time" and row.ranks == 2
        short = name == "latency" and row.count("bytes", 8) == 8 and "from" not in row.parameters
        if row.implementation in movers and (barrier or short):
            kinds.setdefault((_operation(row), row.implementation), []).append(row)
    return [top for rows in kinds.values() if (top := best(rows))]


def _operation(row: Row) -> str:
    """The operation in words: put, barrier of 2 ranks, put to another host."""
    thing = row.metric.partition(".")[0]
    if thing == "network":
        return NETWORK_OPERATIONS.get(row.text("operation"), row.text("operation")).partition(",")[0] + " between hosts"
    return f"barrier of {row.ranks} ranks" if thing == "rank_barrier" else thing.replace("_", " ")


def _words(row: Row) -> str:
    parameters = parameters_text(row)
    return f"{row.metric}, {title(row.implementation)}" + (f" ({parameters})" if parameters else "")


def _facts(environment: Mapping[str, Any]) -> dict[str, str]:
    """The lines of Table 1 that were recorded."""
    cpu, memory, system, build, versions, cluster = (
        environment.get(name) or {} for name in ("cpu", "memory", "system", "build", "versions", "cluster")
    )
    size = memory.get("bytes")
    caches = [
        f"{size_text(cache['bytes'])} L{cache['level']}"
        for cache in environment.get("caches") or []
        if cache.get("type") != "instruction"
    ]
    return {
        "processor": str(cpu.get("model") or ""),
        "cores": str(cpu.get("usable_cores") or ""),
        "threads of a core": str(cpu.get("threads_per_core") or ""),
        "caches": ", ".join(caches),
        "memory": size_text(size) if isinstance(size, int) else "",
        "hosts": str(cluster.get("hosts") or ""),
        "links": str(
            cluster.get("rate")
            or ("at full speed" if cluster and cluster.get("origin", "cluster") == "cluster" else "")
        ),
        "system": ", ".join(filter(None, [str(system.get("distribution") or ""), str(system.get("kernel") or "")])),
        "compiler": str(build.get("compiler") or ""),
        **{title(name): str(versions.get(name) or "") for name in (*MPIS, UCX)},
        **{name: f"{peer['title']} {peer['version']}" for name, peer in (environment.get("peers") or {}).items()},
        "measured": str(environment.get("date") or "")[:10],
    }
