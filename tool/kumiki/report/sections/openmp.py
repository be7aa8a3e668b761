"""OpenMP programs: constructs beside other runtimes, and programs on one process and on several."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report.analysis.model import Results
from kumiki.report.analysis.openmp import SUITE
from kumiki.report.page.exhibit import Exhibit, Section
from kumiki.report.tables import openmp as tables
from kumiki.suites.described import SCASH


def openmp(results: Results) -> Section:
    intro = (
        "OpenMP programs on Kumiki's runtime, beside the same binaries on libgomp and libomp, and as several processes "
        "whose pages travel."
    )
    return Section.of(results, SUITE, "OpenMP", intro, _exhibits(results))


def _exhibits(results: Results) -> Iterator[Exhibit]:
    table = tables.constructs(results)
    if table:
        yield Exhibit(
            "Table",
            "What constructs cost",
            "The time of a construct around a short delay, without the time of the delays: for each execution, chunk "
            "or task. The last columns compare Kumiki's runtime with the better of the two others.",
            "Lower is better. A negative figure is too short to be told from the delays.",
            table=table,
            wide=True,
        )
    table = tables.joins(results)
    if table:
        yield Exhibit(
            "Table",
            "Regions and barriers over two processes",
            "What beginning and ending a parallel region costs, and a barrier in it, if its two threads are two "
            "processes: in microseconds, as a multiple of a barrier of two ranks, and in round trips of a put of 8 B.",
            "Lower is better. A program gains from another host if it computes much longer than this between two such "
            "places.",
            table=table,
            wide=True,
        )
    table = tables.native(results)
    if table:
        yield Exhibit(
            "Table",
            "Programs on one process",
            "The same binary with as many threads on each runtime, and the same problem by as many ranks of the best "
            "MPI.",
            "Lower is better. The best figure of each line, and those equal to it, are in bold.",
            table=table,
            wide=True,
        )
    yield from _over_processes(results)


def _over_processes(results: Results) -> Iterator[Exhibit]:
    table = tables.spread(results)
    if table:
        yield Exhibit(
            "Table",
            "Which programs gain from more processes",
            "The time on libgomp with the threads of one process, and of several processes by first touch; the pages "
            "that move in a run, and the shares of the time of parallel regions in page faults and at barriers, from a "
            "separate run that records them.",
            "`kumiki run --explain --openmp ./program` says the same of your own program, by variable and line, and "
            "`kumiki advise ./program` whether more hosts would help.",
            table=table,
            wide=True,
        )
    table = tables.placements(results)
    if table:
        yield Exhibit(
            "Table",
            "Where pages and iterations are",
            "The time of programs over several processes by where their pages are: at the process that touches them "
            "first, at the one that allocates them (owner), in blocks, at the one that touches them after the program "
            "has begun its first region (next), and as a user places them by hand. Affinity and measured are loops by "
            "the homes of pages and by the speed of processes.",
            "Lower is better. The best figure of each line, and those equal to it, are in bold.",
            table=table,
            wide=True,
            source=SCASH,
        )
