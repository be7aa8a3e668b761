"""Tables of OpenMP programs: constructs, processes, programs and placements."""

from __future__ import annotations

from kumiki.report.analysis import openmp
from kumiki.report.analysis.compare import against, best, better, speed
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.openmp import FIRST, RUNTIMES, Spread
from kumiki.report.quantity import amount, factor, plural, significant, tolerance
from kumiki.report.tables import NOTHING, Cell, Column, Line, Table, ranked
from kumiki.results.row import Row
from kumiki.suites.openmp import BY_HAND
from kumiki.suites.openmp_point import KUMIKI, LIBGOMP

NOTICEABLE = 10.0
"""Percent of the time of regions that are worth a reason."""


def constructs(results: Results) -> Table | None:
    """A line for each construct in each place: the runtimes, and Kumiki's against the better of the two others."""
    found = openmp.constructs(results)
    names = [name for name in RUNTIMES if any(name in each.rows for each in found)]
    lines = []
    for each in found:
        cells = [_cell(each.rows.get(name)) for name in names]
        ours, other = each.ours, each.other
        comparable = ours is not None and other is not None and ours.usable
        if ours is not None and other is not None and comparable:
            cells += [Cell(factor(ours.value / other.value)), Cell(against(ours, other, other.title))]
        else:
            cells += [NOTHING, NOTHING]
        crowded = any(row.oversubscribed for row in each.rows.values())
        lines.append(Line(f"{each.name}, {_where(each.place)}", cells, crowded))
    columns = [
        *(Column(results.title(name), noted=True) for name in names),
        *(Column("of the better"), Column("Kumiki is")),
    ]
    return Table("construct, threads", columns, lines) if lines else None


def joins(results: Results) -> Table | None:
    """What a region and a barrier cost over two processes, in barriers of ranks and in round trips."""
    lines = []
    for join in openmp.joins(results):
        what = "region, fork and join" if join.row.text("construct") == "parallel" else "barrier in a region"
        where = "two hosts" if join.row.count("hosts") > 1 else "two processes of one host"
        ratios = [Cell(factor(ratio)) if ratio is not None else NOTHING for ratio in (join.barriers, join.round_trips)]
        lines.append(Line(f"{what}, {where}", [_cell(join.row), _cell(join.barrier), *ratios], join.row.oversubscribed))
    columns = [
        *(Column("cost", noted=True), Column("barrier of two ranks", noted=True)),
        *(Column("of that barrier"), Column("round trips")),
    ]
    return Table("construct", columns, lines) if lines else None


def native(results: Results) -> Table | None:
    """A line for each program on one process: the runtimes, the best MPI, and Kumiki against libgomp."""
    found = list(openmp.native(results))
    names = [name for name in RUNTIMES if any(name in each.rows for each in found)]
    lines = []
    for each in found:
        entries = [(each.rows[name], "") if name in each.rows else None for name in names]
        ours, other = each.rows.get(KUMIKI), each.rows.get(LIBGOMP)
        verdict = Cell(against(ours, other, other.title)) if ours and other else NOTHING
        line = ranked(each.title, entries)
        mpi = Cell(f"{amount(each.mpi)}, {each.mpi.title}", row=each.mpi.id) if each.mpi else NOTHING
        lines.append(Line(line.head, [*line.cells, mpi, verdict], line.crowded))
    columns = [*(Column(results.title(name), noted=True) for name in names), Column("best MPI"), Column("Kumiki is")]
    return Table("program", columns, lines, _verified(results)) if lines else None


def spread(results: Results) -> Table | None:
    """A line for each program on several processes: whether it gains, and what takes the time."""
    lines = []
    for each in openmp.spread(results):
        cells = [_cell(each.alone), _cell(each.row), _cell(each.mpi)]
        cells.append(Cell(significant(each.pages.value)) if each.pages else NOTHING)
        cells += [Cell(f"{share.value:.0f} %") if share else NOTHING for share in (each.faulting, each.waiting)]
        verdict = f"{gains(each)}{'; ' if reason(each) else ''}{reason(each)}"
        lines.append(Line(f"{each.title}, {_where(openmp.place(each.row))}", [*cells, Cell(verdict)]))
    columns = [
        *(Column("one process", noted=True), Column("several", noted=True), Column("best MPI", noted=True)),
        *(Column("pages moved"), Column("in faults"), Column("at barriers"), Column("more processes")),
    ]
    return Table("program, processes x threads", columns, lines) if lines else None


def gains(each: Spread) -> str:
    """Whether several processes are faster than one with the threads of one of them."""
    if each.alone is None:
        return "nothing to compare with"
    ratio = speed(each.row) / speed(each.alone)
    if better(each.row, each.alone):
        return f"gain: {factor(ratio)} times as fast"
    if better(each.alone, each.row):
        return f"do not gain: {factor(1 / ratio)} times as long"
    return "are not shown to gain"


def reason(each: Spread) -> str:
    """What takes the time of regions over processes; empty if nothing of that is noticeable, or not known."""
    if each.faulting is None or each.waiting is None or each.pages is None:
        return ""
    if max(each.faulting.value, each.waiting.value) < NOTICEABLE:
        return "nearly all of its time is computation"
    if each.faulting.value >= each.waiting.value:
        return f"it waits for {plural(round(each.pages.value), 'page')} in each run"
    if each.pages.value < 1:
        return "one process waits for the other, and no page moves"
    return "it waits at barriers, where pages are sent, too"


def placements(results: Results) -> Table | None:
    """A line for each program that was run with several placements, and how first touch compares with the best."""
    found = list(openmp.placements(results))
    known = dict.fromkeys(name for _, rows in found for name in rows)
    names = [FIRST, *(name for name in known if name not in (FIRST, BY_HAND)), *([BY_HAND] if BY_HAND in known else [])]
    lines = []
    for each, rows in found:
        line = ranked(each.title, [(rows[name], "") if name in rows else None for name in names])
        first = rows[FIRST]
        other = best(row for name, row in rows.items() if name != FIRST)
        verdict = Cell(against(first, other, f"{other.text('homes')}")) if other else NOTHING
        lines.append(Line(line.head, [*line.cells, verdict], line.crowded))
    columns = [*(Column(name, noted=True) for name in names), Column("first touch is")]
    return Table("program", columns, lines) if lines else None


def _verified(results: Results) -> list[str]:
    right, of, programs = openmp.verified(results)
    return [f"{right} of {of} timed solutions of {plural(programs, 'program')} were verified."] if of else []


def _where(place: openmp.Place) -> str:
    hosts, ranks, threads = place
    if ranks == 1:
        return plural(threads, "thread")
    return f"{ranks} x {threads}{f' over {hosts} hosts' if hosts > 1 else ''}"


def _cell(row: Row | None) -> Cell:
    return Cell(amount(row), tolerance(row), row=row.id, crowded=row.oversubscribed) if row else NOTHING
