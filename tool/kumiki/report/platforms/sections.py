"""The sections of the page of several platforms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kumiki.report.analysis.compare import speed
from kumiki.report.analysis.select import network_rows, transfer_bound
from kumiki.report.figures import platforms as figures
from kumiki.report.figures.canvas import unlinked
from kumiki.report.figures.overview import Line, Mark, by_line
from kumiki.report.page.exhibit import Exhibit, Section, numbered
from kumiki.report.palette import Look
from kumiki.report.platforms import tables
from kumiki.report.platforms.model import Contest, Platform, looks
from kumiki.report.quantity import percent
from kumiki.report.tables import Table
from kumiki.results.row import Row

BOLD = "The best figure of each line, and those equal to it, are in bold."


def sections(platforms: Sequence[Platform], contests: Sequence[Contest]) -> list[Section]:
    found = [
        Section("platforms", "The platforms", "The machines that were measured.", list(_machines(platforms))),
        Section(
            "programs", "The programs", "The same problems on every platform.", list(_programs(contests, platforms))
        ),
        *(_contest(contest, platforms) for contest in contests),
        Section("memory", "Memory bus", "The bandwidth of main memory.", list(_memory(platforms))),
        Section("messages", "Messages", "The cost of moving data between ranks.", list(_messages(platforms))),
        Section(
            "figures", "All common figures", "Every figure that two or more platforms have.", list(_figures(platforms))
        ),
    ]
    return numbered(found)


def overview(platforms: Sequence[Platform], contests: Sequence[Contest]) -> Exhibit | None:
    """Every platform's speed for every program, as a share of the fastest; nothing without a common program.

    A program that has no setting with a core for every thread has no speed to show here.
    """
    known = looks(platforms)
    lines = [Line(contest.name, shares) for contest in contests if (shares := list(_shares(contest, known)))]
    if not lines:
        return None
    heading = "The speed of each platform, by program"
    picture = by_line("overview", heading, "share of the fastest", lines, percent, lambda _: None)
    return Exhibit(
        "Figure",
        heading,
        "The speed at the best setting measured, as a share of the fastest platform's speed, with its 95 % interval.",
        "Further right is better; 100 % is the fastest.",
        picture=unlinked(picture),
    )


def _shares(contest: Contest, known: Mapping[str, Look]) -> Iterator[Mark]:
    tops = {entrant.platform.label: top for entrant in contest.entrants if (top := entrant.top)}
    if not tops:
        return
    fastest = max(map(speed, tops.values()))
    for place, (label, top) in enumerate(tops.items()):
        ends = [speed(replace(top, median=value)) / fastest for value in (top.value, *top.interval)]
        yield Mark(label, known[label], figures.own(top, place), ends[0], min(ends), max(ends))


def _machines(platforms: Sequence[Platform]) -> Iterator[Exhibit]:
    yield _table(
        "The platforms",
        "Each platform as recorded when it was measured.",
        "These differences may explain those between the figures below.",
        tables.machines(platforms),
    )


def _programs(contests: Sequence[Contest], platforms: Sequence[Platform]) -> Iterator[Exhibit]:
    if table := tables.one_processor(contests, platforms):
        yield _table(
            "One processor",
            "The base case of each problem: its sequential form, or one rank with one thread.",
            f"The performance of a single core with the memory to itself. {BOLD}",
            table,
        )
    if table := tables.at_best(contests, platforms):
        yield _table(
            "Every platform at its best",
            "The shortest time for each problem over all settings, with its setting.",
            f"The best that each platform achieves for the program. {BOLD}",
            table,
        )


def _contest(contest: Contest, platforms: Sequence[Platform]) -> Section:
    names = {entrant.platform.label: entrant.problem for entrant in contest.entrants}
    known = looks(platforms)
    exhibits = []
    for figure, words, reading in (
        (
            "speedup",
            "speed-up",
            "A line close to the ideal means that the platform suits the program and that more processors would help.",
        ),
        (
            "efficiency",
            "efficiency",
            "Where a line falls, communication, the memory bus or serial code becomes the limit.",
        ),
    ):
        heading = f"{contest.name}: {words} over processors"
        picture = figures.scaling(f"{contest.id}-{figure}", heading, names, known, figure)  # type: ignore[arg-type]
        if picture:
            shows = (
                f"{words.capitalize()} of each platform over its own base case, with its best setting for each number "
                "of processors."
            )
            exhibits.append(Exhibit("Figure", heading, shows, reading, picture=picture))
    if table := tables.by_processors(contest, platforms):
        shows = (
            "Time, speed-up and efficiency of the best setting for each number of processors, without oversubscription."
        )
        exhibits.append(_table(f"{contest.name}: by processors", shows, BOLD, table))
    return Section(contest.id, contest.name, contest.detail, exhibits)


def _memory(platforms: Sequence[Platform]) -> Iterator[Exhibit]:
    if table := tables.memory_bus(platforms):
        yield _table(
            "The memory bus at its best",
            "The highest rate of each operation, summed over all threads, and the number of threads that reaches it.",
            f"The fewer threads saturate the bus, the sooner streaming programs stop gaining from threads. {BOLD}",
            table,
        )


def _messages(platforms: Sequence[Platform]) -> Iterator[Exhibit]:
    if table := tables.shortest(platforms):
        yield _table(
            "The shortest operations",
            "Operations on 8 bytes, and barriers of two ranks.",
            f"Lower is better. {BOLD}",
            table,
        )
    known = looks(platforms)
    for name, heading, rows in (
        ("put-bandwidth", "Bandwidth of puts within a host", {p.label: _puts(p, "put.bandwidth") for p in platforms}),
        ("network-bandwidth", "Bandwidth of puts between hosts", {p.label: _network(p) for p in platforms}),
    ):
        bounds = {p.label: transfer_bound(p.results, name.startswith("network")) for p in platforms}
        if picture := figures.bandwidth(name, heading, rows, known, bounds):
            shows = "Kumiki's puts over message size: median with its 95 % band, logarithmic on both axes."
            yield Exhibit("Figure", heading, shows, "Higher is better.", picture=picture)
    if table := tables.bandwidth(platforms):
        shows = "The fastest operation of Kumiki or MPI between two ranks at each size, with its name."
        yield _table("The highest bandwidth by size", shows, f"Higher is better. {BOLD}", table)
    if table := tables.routines(platforms):
        shows = "The fastest routine for a message of each size, for each implementation."
        yield _table("The routine to use by size", shows, f"Higher is better. {BOLD}", table)


def _figures(platforms: Sequence[Platform]) -> Iterator[Exhibit]:
    if table := tables.everything(platforms):
        yield _table("All common figures", "Medians, and half the width of their 95 % intervals.", BOLD, table)


def _puts(platform: Platform, metric: str) -> dict[int, Row]:
    return {row.count("bytes"): row for row in platform.results.where(metric, "kumiki") if row.usable}


def _network(platform: Platform) -> dict[int, Row]:
    rows = network_rows(platform.results, "network.bandwidth")
    return {r.count("bytes"): r for r in rows if r.implementation == "kumiki" and r.text("operation") == "put"}


def _table(heading: str, shows: str, reading: str, table: Table) -> Exhibit:
    return Exhibit("Table", heading, shows, reading, table=table, wide=True)
