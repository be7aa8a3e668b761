"""The machine itself and the cost of synchronisation: memory, barriers, waiting."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report import tables
from kumiki.report.analysis.model import Results
from kumiki.report.figures.barriers import by_members
from kumiki.report.figures.canvas import Picture
from kumiki.report.page.exhibit import Exhibit, Section
from kumiki.report.palette import Look, looks
from kumiki.report.sections.compas import barrier_growth
from kumiki.results.row import Row


def memory(results: Results) -> Section:
    def exhibits() -> Iterator[Exhibit]:
        table = tables.memory_bus(results)
        if table:
            yield Exhibit(
                "Table",
                "The memory bus by number of threads",
                "Bytes moved per second, summed over all threads, by the number of threads that work at once.",
                "Read down a column: where the figures stop growing, the bus is saturated, and more threads do not "
                "speed "
                "up a program that streams through memory. The bars compare all cells of the table.",
                "Table 1",
                table=table,
                wide=True,
            )

    intro = "The bandwidth of main memory bounds every program whose data do not fit into the caches."
    return Section.of(results, "memory", "Memory bus", intro, exhibits())


def thread_barrier(results: Results) -> Section:
    def exhibits() -> Iterator[Exhibit]:
        table = tables.thread_barrier(results)
        if table is None:
            return
        yield Exhibit(
            "Table",
            "The thread barrier by number of threads",
            "Time of one barrier of all threads of a rank: Kumiki's, the paper's (central), and those of common "
            "libraries.",
            "Lower is better. Bare flags are the bound: the time of the cache lines alone, which is not usable as a "
            "barrier. "
            "With 100 times the duration of a barrier as work between two barriers, synchronisation takes 1 %.",
            "Table 2",
            table=table,
            wide=True,
        )
        known = looks(row.implementation for row in results.rows)
        rows = [row for row in results.where("thread_barrier.time") if row.usable]
        series = {
            results.title(name): (known[name], [row for row in rows if row.implementation == name])
            for name in dict.fromkeys(row.implementation for row in rows)
        }
        picture = by_members("thread-barrier", series, "threads")
        if picture:
            yield _barrier_figure("The thread barrier over the number of threads", "Table 2", picture)

    intro = "The time that the threads of one rank need to wait for each other."
    return Section.of(results, "thread-barrier", "Thread barrier", intro, exhibits())


def rank_barrier(results: Results) -> Section:
    def exhibits() -> Iterator[Exhibit]:
        table = tables.rank_barrier(results)
        if table is None:
            return
        yield Exhibit(
            "Table",
            "The rank barrier by number of ranks",
            "Time of one barrier of all ranks: Kumiki's plain, split-phase and shuffle-exchange forms (the last is "
            "the method that the paper's PM used on the host), bare flags as their bound, and MPI_Barrier.",
            "Lower is better. For the split-phase form the table shows the wait that remains if a rank works between "
            "arriving and waiting. Note the oversubscribed rows, where a barrier that only spins takes milliseconds.",
            "Tables 3 and 4",
            table=table,
            wide=True,
        )
        picture = by_members("rank-barrier", _rank_series(results), "ranks")
        if picture:
            yield _barrier_figure("The rank barrier over the number of ranks", "Tables 3 and 4", picture)
        yield from barrier_growth(results, {name: look for name, (look, _) in _rank_series(results).items()})

    intro = "The time that ranks, which have separate memory, need to wait for each other."
    return Section.of(results, "rank-barrier", "Rank barrier", intro, exhibits())


def _rank_series(results: Results) -> dict[str, tuple[Look, list[Row]]]:
    known = looks(row.implementation for row in results.rows)
    dashes = {"split-phase": "dashed", "shuffle-exchange": "dotted"}
    series = {}
    for name, rows in tables.rank_barrier_series(results).items():
        row = next(iter(rows.values()))
        usable = [row for row in rows.values() if row.usable]
        look = known[row.implementation]
        series[name] = (Look(look.role, look.marker, dashes.get(row.text("form"), "solid")), usable)
    return series


def _barrier_figure(heading: str, paper: str, picture: Picture) -> Exhibit:
    return Exhibit(
        "Figure",
        heading,
        "The medians of the table above on logarithmic axes, with their 95 % intervals.",
        "A straight rise is a cost that grows with a power of the number of members; a flat line means perfect "
        "scaling.",
        paper,
        picture=picture,
        wide=True,
    )


def waiting(results: Results) -> Section:
    def exhibits() -> Iterator[Exhibit]:
        table = tables.waiting(results)
        if table:
            yield Exhibit(
                "Table",
                "The cost of waiting by policy",
                "The share of a core that a waiting rank uses, over the whole wait and after its first milliseconds, "
                "and the time from the signal until the rank continues.",
                "Lower is better in every column. A policy that keeps a core busy continues soonest but takes the core "
                "away from others.",
                table=table,
                wide=True,
            )

    intro = "Waiting is a policy: spin, yield, sleep, or adaptive (a little of each)."
    return Section.of(results, "wait", "Waiting", intro, exhibits())
