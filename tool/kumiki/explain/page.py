"""The page of an explanation, in the style of all pages."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.explain import page_map, view
from kumiki.explain.analysis import Explained
from kumiki.explain.model import Explanation
from kumiki.explain.record import Use
from kumiki.report.page.exhibit import Exhibit, Section, numbered
from kumiki.report.page.html import page
from kumiki.report.tables import Cell, Column, Line, Table

MOST_LINES = 100
MAPS = 6
AREAS = {Use.VARIABLES: "the variables of the program", Use.HEAP: "the heap", Use.STACKS: "the stacks"}


def render(explained: Explained) -> str:
    """The page as one string of HTML."""
    explanation = explained.explanation
    return page(
        "explanation.html.j2",
        explanation=explanation,
        summary=list(view.summary(explanation)),
        nothing=view.nothing(explanation),
        sections=numbered(_sections(explained)),
    )


def _sections(explained: Explained) -> list[Section]:
    explanation = explained.explanation
    return [
        Section("pages", "Page map", "The home of each page, and who moved it when.", list(_maps(explained))),
        Section("memory", "Arrays and variables", "What keeping them consistent has cost.", list(_memory(explanation))),
        Section("lines", "Source lines", "Where the program waits for pages.", list(_lines(explanation))),
        Section("regions", "Parallel regions", "Which of them scale, and which do not.", list(_regions(explanation))),
        Section(
            "locks", "Locks and atomic instructions", "Each costs a message between hosts.", list(_locks(explanation))
        ),
    ]


def _maps(explained: Explained) -> Iterator[Exhibit]:
    traffic, written = explained.traffic, explained.written
    if traffic is None or written is None:
        return
    busiest = sorted(traffic.areas, key=lambda area: -int((traffic.area == area.number).sum()))
    for area in busiest[:MAPS]:
        title = AREAS.get(area.use) or explained.names[area.number]
        if picture := page_map.picture(f"pages-{area.number}", title, traffic, written, area):
            yield Exhibit(
                "Figure",
                f"Pages of {title}",
                "From left to right the pages, from top to bottom the time, in intervals between barriers.",
                "Pages whose colour differs from the strip above them travel because their home is elsewhere; a column "
                "that changes its colour from line to line is written by several ranks in turn.",
                picture=picture,
                wide=True,
            )


def _memory(explanation: Explanation) -> Iterator[Exhibit]:
    used = [each for each in explanation.subjects if each.faults or each.transfers]
    columns = [
        Column("homes"),
        Column("faults"),
        Column("in faults", "ms"),
        Column("fetched", "pages"),
        Column("for nothing", "pages"),
        Column("fetched", "MB"),
        Column("differences"),
        Column("sent", "MB"),
        Column("dropped", "pages"),
        Column("false sharing"),
        Column("home elsewhere", "%"),
    ]
    lines = [
        Line(
            each.name,
            [
                Cell(view.home_text(each)),
                Cell(f"{each.faults}"),
                Cell(f"{1e3 * each.seconds:.1f}"),
                Cell(f"{each.fetches}"),
                Cell(f"{each.idle_fetches}"),
                Cell(f"{each.fetched_bytes / 1e6:.2f}"),
                Cell(f"{each.differences}"),
                Cell(f"{each.difference_bytes / 1e6:.2f}"),
                Cell(f"{each.dropped}"),
                Cell(f"{each.false_shared}"),
                Cell(f"{100 * each.elsewhere / each.pages:.0f}" if each.pages else "–"),
            ],
        )
        for each in used[:MOST_LINES]
    ]
    if lines:
        yield Exhibit(
            "Table",
            "Costs of memory",
            "The sums over all ranks.",
            "False sharing counts how often several ranks wrote one page in one interval; home elsewhere is the share "
            "of the pages whose home is not the rank that wrote them in most intervals.",
            table=Table("memory", columns, lines),
            wide=True,
        )


def _lines(explanation: Explanation) -> Iterator[Exhibit]:
    columns = [Column("faults"), Column("of writes"), Column("time", "ms"), Column("memory"), Column("function")]
    lines = [
        Line(
            line.text,
            [
                Cell(f"{line.faults}"),
                Cell(f"{line.writes}"),
                Cell(f"{1e3 * line.seconds:.1f}"),
                Cell(", ".join(line.subjects)),
                Cell(line.function),
            ],
        )
        for line in explanation.lines[:MOST_LINES]
    ]
    if lines:
        yield Exhibit(
            "Table",
            "Source lines that fault",
            "The lines of the program at which threads waited for a page, the most expensive first.",
            "A fault inside a function of a library counts for the line that called it.",
            table=Table("line", columns, lines),
            wide=True,
        )


def _regions(explanation: Explanation) -> Iterator[Exhibit]:
    columns = [
        Column("times"),
        Column("time", "ms"),
        Column("at barriers", "%"),
        Column("in faults", "%"),
        Column("faults"),
        Column("scales"),
    ]
    lines = []
    for region in explanation.regions:
        is_region = not region.text.startswith("between")
        lines.append(
            Line(
                region.text,
                [
                    Cell(f"{region.executions}"),
                    Cell(f"{1e3 * region.seconds:.1f}"),
                    Cell(f"{100 * region.waiting:.0f}" if is_region else "–"),
                    Cell(f"{100 * region.faulting:.0f}"),
                    Cell(f"{region.faults}"),
                    Cell(("yes" if region.scales else "no") if is_region else "–"),
                ],
            )
        )
    if lines:
        yield Exhibit(
            "Table",
            "Parallel regions",
            "Their time at the slowest rank, and the shares of it that ranks spend at their barriers and in "
            "page faults.",
            "A region scales here if both together are less than 30 %.",
            table=Table("region", columns, lines),
            wide=True,
        )


def _locks(explanation: Explanation) -> Iterator[Exhibit]:
    columns = [Column("times"), Column("each", "us"), Column("in all", "ms")]
    lines = [
        Line(
            view.name_of(lock),
            [
                Cell(f"{lock.count}"),
                Cell(f"{1e6 * lock.seconds / lock.count:.1f}"),
                Cell(f"{1e3 * lock.seconds:.1f}"),
            ],
        )
        for lock in explanation.locks
        if lock.count
    ]
    if lines:
        yield Exhibit(
            "Table",
            "Locks",
            "How often they were taken, and how long a thread waited until it had one.",
            "An atomic instruction of a program that runs as several processes is carried out at the home of its "
            "variable, or under a lock of all; a gathered one changes the process's own copy of the variable.",
            table=Table("lock", columns, lines),
        )
