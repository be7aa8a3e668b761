"""The programs of the Maestro paper over hosts: this library's messages compared with MPI's on the same network."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kumiki.report.analysis.compare import against, best, better, equal
from kumiki.report.analysis.select import Problem
from kumiki.report.figures.hosts import over_hosts as picture_of
from kumiki.report.page.exhibit import Exhibit
from kumiki.report.palette import Look, looks
from kumiki.report.quantity import plural
from kumiki.report.tables import Cell, Column, Line, Table, ranked
from kumiki.results.row import Row
from kumiki.suites.described import MAESTRO

OURS = "Kumiki messages"


def over_hosts(problem: Problem) -> Iterator[Exhibit]:
    """Time over the number of hosts, for each implementation; nothing if only one number was measured."""
    paper = problem.program.paper.over_hosts
    series = _series(problem)
    if not paper or not any(set(rows) - {1} for rows in series.values()) or OURS not in series:
        return
    known = looks(row.implementation for row in problem.results.rows)
    drawn = {name: (_look(name, rows, known), rows) for name, rows in series.items()}
    picture = picture_of(f"{problem.program.suite}-hosts", problem.title, drawn)
    if picture:
        yield Exhibit(
            "Figure",
            f"{problem.program.title}: time over hosts",
            "Execution time with one single-threaded rank on each host, with this library's messages and with each "
            "MPI.",
            "Lower is better. Where a line rises, another host adds more communication than it saves in computation.",
            paper,
            "One host is the sequential form.",
            picture,
            source=MAESTRO,
        )
    yield Exhibit(
        "Table",
        f"{problem.program.title}: time over hosts",
        "Execution time with one single-threaded rank on each host. " + problem.program.paper.over_hosts_result,
        "The best figure of each line, and those equal to it, are in bold.",
        paper,
        table=_table(series),
        wide=True,
        source=MAESTRO,
    )


def _series(problem: Problem) -> dict[str, dict[int, Row]]:
    """Rows with one rank on each host, by number of hosts; the first point of every series is a single host."""
    alone = {1: problem.sequential} if problem.sequential else {}
    found = {OURS: {**alone, **_one_on_each(problem.messages)}}
    found |= {problem.results.title(name): {**alone, **_one_on_each(rows)} for name, rows in problem.mpi.items()}
    return {name: rows for name, rows in found.items() if set(rows) - {1}}


def _one_on_each(rows: dict[tuple[int, int], Row]) -> dict[int, Row]:
    return {ranks: row for (ranks, threads), row in rows.items() if threads == 1 and row.count("hosts") == ranks > 1}


def _look(name: str, rows: dict[int, Row], known: dict[str, Look]) -> Look:
    implementation = next(row.implementation for count, row in rows.items() if count > 1)
    return known[implementation]


def _table(series: dict[str, dict[int, Row]]) -> Table:
    counts = sorted({count for rows in series.values() for count in rows})
    lines = []
    for count in counts:
        if count == 1:  # the sequential form represents all implementations
            row = series[OURS].get(1)
            cells = ranked("", [(row, "") if row else None]).cells
            lines.append(Line("1, sequential", [*cells, *[Cell("–")] * len(series)]))
            continue
        entries = [(rows[count], "") if count in rows else None for rows in series.values()]
        line = ranked(plural(count, "host"), entries)
        lines.append(Line(line.head, [*line.cells, Cell(_verdict(series, count))], line.crowded))
    columns = [Column(name, noted=True) for name in series]
    notes = [f"{name}: {_steps(rows)}." for name, rows in series.items() if len(rows) > 1]
    return Table("hosts", [*columns, Column("messages compared with the best MPI")], lines, notes)


def _steps(rows: dict[int, Row]) -> str:
    """What more hosts change, step by step, as far as the samples show it."""
    return ", ".join(f"{_step(rows[few], rows[many])} on {many} than on {few}" for few, many in pairwise(sorted(rows)))


def _step(few: Row, many: Row) -> str:
    if better(many, few):
        return "faster"
    if better(few, many):
        return "slower"
    return "no faster or slower" if equal(few, many) else "not shown to be faster or slower"


def _verdict(series: dict[str, dict[int, Row]], count: int) -> str:
    ours = series[OURS].get(count)
    other = best(rows[count] for name, rows in series.items() if name != OURS and count in rows)
    return against(ours, other, other.title) if ours and other else "–"
