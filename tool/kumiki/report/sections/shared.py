"""Shared arrays: what single pages cost, and programs whose data are in them."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report.analysis.model import Results
from kumiki.report.analysis.shared import SUITE
from kumiki.report.page.exhibit import Exhibit, Section
from kumiki.report.tables import shared as tables
from kumiki.suites.described import SCASH


def shared(results: Results) -> Section:
    intro = (
        "Arrays that all ranks read and write through plain pointers: what keeping copies of their pages consistent "
        "costs, and programs whose data are in them."
    )
    return Section.of(results, SUITE, "Shared arrays", intro, _exhibits(results))


def _exhibits(results: Results) -> Iterator[Exhibit]:
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
            "The homes and page transfers of section 3",
            table=table,
            source=SCASH,
            wide=True,
        )
