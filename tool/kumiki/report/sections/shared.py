"""Shared arrays: what single pages cost, and programs whose data are in them."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS
from kumiki.report.analysis.shared import SUITE, Placements, placements
from kumiki.report.figures.hosts import over_hosts
from kumiki.report.page.exhibit import Exhibit, Section
from kumiki.report.palette import Look
from kumiki.report.tables import shared as tables
from kumiki.suites.described import SCASH
from kumiki.suites.shared import COMPARED

LOOKS = {"hand": Look("bound", "D", "dashed"), "block": Look("other-1", "^"), "first": Look("kumiki")}
"""Of the homes in the figures."""
OF_NPB = "Figures 4 and 5"
"""Of the paper: its BT and SP, in the place of which other programs are measured."""


def shared(results: Results) -> Section:
    intro = (
        "Arrays that all ranks read and write through plain pointers: what keeping copies of their pages consistent "
        "costs, and programs whose data are in them."
    )
    return Section.of(results, SUITE, "Shared arrays", intro, _exhibits(results))


def _exhibits(results: Results) -> Iterator[Exhibit]:
    for problem in placements(results):
        yield from _over_ranks(problem)
    table = tables.homes(results)
    if table:
        yield Exhibit(
            "Table",
            "Where the homes of pages are",
            "Every rank with copies of its own: the time, also as a multiple of that with the placement by hand, where "
            "each page is at home at the rank that works on it from the beginning; the pages that all ranks fetched in "
            "a run, those whose changes they sent home, and how many of all pages have another home than the rank that "
            "works on them.",
            "Lower is better. The paper's first touch took 1.08 and 1.14 times as long as its placement by hand, and "
            "homes in blocks 1.26 and 1.48 times; with first touch 10 and 14 % of the pages had other homes than by "
            "hand, with blocks 65 and 85 %.",
            "The homes and page transfers of section 4",
            table=table,
            source=SCASH,
            wide=True,
        )
    table = tables.costs(results)
    if table:
        yield Exhibit(
            "Table",
            "What a shared page costs",
            "Between two ranks. The bound of a miss and of a first write is a bare page fault of the same mechanism "
            "that copies one page; that of a barrier is a rank barrier, and that of a sequential read are puts of as "
            "many bytes.",
            "Lower is better, except for the sequential read.",
            table=table,
            wide=True,
        )
    table = tables.programs(results)
    if table:
        yield Exhibit(
            "Table",
            "Programs whose data are in shared arrays",
            "The time, as a multiple of the time of the same program with puts on as many ranks, and with as many "
            "threads of OpenMP on plain memory; the pages that all ranks fetched in a run, and those whose changes "
            "they sent home; and how many of all pages have another home than the rank that works on them.",
            "Lower is better. The homes decide how many pages travel.",
            table=table,
            wide=True,
        )


def _over_ranks(problem: Placements) -> Iterator[Exhibit]:
    """Time over the number of ranks, a line for each kind of homes that the paper compares."""
    alone = {1: problem.alone} if problem.alone else {}
    series = {
        f"homes: {tables.HOMES[homes]}": (LOOKS[homes], {**alone, **{ranks: run.row for ranks, run in runs.items()}})
        for homes in COMPARED
        if (runs := dict(sorted(problem.runs.get(homes, {}).items())))
    }
    if len({count for _, rows in series.values() for count in rows}) < 2:
        return
    program = next(each for each in PROGRAMS if each.suite == problem.program)
    counted = "ranks, each with copies of its own"
    picture = over_hosts(f"shared-{problem.program}", program.title, series, counted)
    if picture:
        yield Exhibit(
            "Figure",
            f"{program.title} in shared arrays: time by homes",
            "Execution time over the number of ranks, with the homes of pages by hand, in blocks, and where pages are "
            "touched first.",
            "Lower is better. What lies above the line of the placement by hand is what other homes cost.",
            program.paper.placement or OF_NPB,
            "One rank is the sequential form on plain memory." if problem.alone else "",
            picture,
            source=SCASH,
        )
