"""Exhibits of the COMPaS paper besides times: slopes of barriers, the master's communication, messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumiki.report import tables
from kumiki.report.analysis import growth
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import Problem, Program
from kumiki.report.figures.exchange import message_sizes
from kumiki.report.figures.growth import lines
from kumiki.report.page.exhibit import Exhibit
from kumiki.report.palette import Look
from kumiki.report.quantity import percent
from kumiki.report.tables import funnelled
from kumiki.report.tables import growth as growth_tables
from kumiki.results.row import Row

KEY_BYTES = 4


def barrier_growth(results: Results, looks: Mapping[str, Look]) -> Iterator[Exhibit]:
    """Slopes and crossovers of all barriers except the split-phase one, of which only the visible rest is known."""
    series = {
        name: {ranks: row for ranks, row in rows.items() if row.usable}
        for name, rows in tables.rank_barrier_series(results).items()
        if not any(row.text("form") == "split-phase" for row in rows.values())
    }
    picture = lines("rank-barrier-growth", {name: (looks[name], rows) for name, rows in series.items()})
    if picture is None:
        return
    yield Exhibit(
        "Figure",
        "How the rank barrier grows",
        "Time of one barrier over the number of ranks P, median with its 95 % interval, and the line a + b log2 P, "
        "fitted separately to the points with a core for each rank and to the oversubscribed ones.",
        f"A barrier in steps of doubling distance needs log2 P steps. A line is drawn only if no point deviates from "
        f"it by more than {percent(growth.FITS)}.",
        "Table 3",
        picture=picture,
        wide=True,
    )
    table = growth_tables.slopes(series)
    if table:
        yield Exhibit(
            "Table",
            "The rank barrier as a + b log2 P",
            "The fit by least relative squares to the medians, and the largest deviation of a median from it.",
            f"In the paper each doubling added 7.4 µs to NICAM's barrier and 17 µs to PM's. Barriers that deviate by "
            f"more than {percent(growth.FITS)} do not follow this law and have no line here.",
            "Table 3",
            table=table,
            wide=True,
        )
    table = growth_tables.crossovers(series)
    if table:
        yield Exhibit(
            "Table",
            "Which barrier overtakes which",
            "Pairs of barriers of which one is faster with few ranks and the other with many.",
            "In the paper NICAM's barrier overtakes PM's between 4 and 8 nodes.",
            "Table 3",
            table=table,
            wide=True,
        )


def master_only(results: Results, program: Program) -> Iterator[Exhibit]:
    """Whether the master's communication depends on the threads beside it."""
    table = funnelled.table(results, program)
    if table:
        yield Exhibit(
            "Table",
            f"{program.title}: communication by number of threads",
            "The time that the master threads spend fetching panels (maximum over the ranks), by the number of threads "
            "of each rank that compute. Only the master communicates, and the other threads sleep meanwhile.",
            "In the paper it is 0.83 s for any number of threads.",
            "Table 5",
            table=table,
            wide=True,
        )


def sort_messages(problem: Problem) -> Iterator[Exhibit]:
    """The data that the ranks of a sort send to each other; nothing if a program sorts no keys."""
    keys = dict(problem.size).get("keys")
    means = {row.ranks: row for row in _of(problem, "message") if row.threads == 1}
    senders: dict[int, list[Row]] = {}
    for row in _of(problem, "sent"):
        if row.threads == 1:
            senders.setdefault(row.ranks, []).append(row)
    if not isinstance(keys, int):
        return
    picture = message_sizes(f"{problem.program.suite}-messages", dict(sorted(means.items())), senders, keys * KEY_BYTES)
    if picture:
        yield Exhibit(
            "Figure",
            f"{problem.program.title}: data that one rank sends to another",
            "Bytes that one rank sends to another in one sort, by the number of ranks.",
            "With evenly distributed keys this is the bytes of all keys divided by the square of the number of ranks: "
            "the more ranks, the shorter the messages. In the paper it is 4 MB with 2 nodes and 256 KB with 8.",
            "the text on Figure 11",
            picture=picture,
        )


def _of(problem: Problem, figure: str) -> list[Row]:
    """The rows of Kumiki's hybrid form of exactly this problem."""
    wanted = dict(problem.size + problem.variant)
    rows = problem.results.where(problem.program.metric(figure), "kumiki", form="hybrid", **wanted)
    return [row for row in rows if row.usable]
