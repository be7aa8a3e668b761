"""What the COMPaS paper shows beside times and speed-ups: slopes of barriers, the master's communication, messages."""

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
    """Slopes and crossovers of all barriers but the split-phase one, of which only what remains visible is known."""
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
        "Time of one barrier over the number of ranks P, median with its 95 % interval, and the line a + b log2 P "
        "through those points that have a core for each rank, or that have not.",
        f"Who meets in steps of doubling distance needs log2 P of them. A line is drawn only where it misses no point "
        f"by more than {percent(growth.FITS)}.",
        "Table 3",
        picture=picture,
        wide=True,
    )
    table = growth_tables.slopes(series)
    if table:
        yield Exhibit(
            "Table",
            "The rank barrier as a + b log2 P",
            "The line of least relative squares through the medians, and how far it is from the worst of them.",
            f"Of the paper's barriers NICAM's added 7.4 µs for each doubling and PM's 17 µs. Figures that a line "
            f"misses by more than {percent(growth.FITS)} follow no such law, and have none here.",
            "Table 3",
            table=table,
            wide=True,
        )
    table = growth_tables.crossovers(series)
    if table:
        yield Exhibit(
            "Table",
            "Which barrier overtakes which",
            "Pairs of which one is shown to be faster with few ranks and the other with many.",
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
            "What the master threads spend in fetching panels, the largest over ranks, while so many threads of each "
            "rank compute; nobody but the master communicates.",
            "In the paper it is 0.83 s whatever the threads. Where threads share a core with a master, it waits "
            "for its turn too.",
            "Table 5",
            table=table,
            wide=True,
        )


def sort_messages(problem: Problem) -> Iterator[Exhibit]:
    """What the ranks of a sort send to each other; nothing where a program sorts no keys."""
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
            f"{problem.program.title}: what one rank sends to another",
            "Bytes that go from one rank to another in one sort, by the number of ranks.",
            "With evenly spread keys it is the bytes of all keys by the square of the ranks: the more ranks, the "
            "shorter the messages. The paper has 4 MB between 2 nodes and 256 KB between 8.",
            "the text on Figure 11",
            picture=picture,
        )


def _of(problem: Problem, figure: str) -> list[Row]:
    """The rows of Kumiki's hybrid form of just this problem."""
    wanted = dict(problem.size + problem.variant)
    rows = problem.results.where(problem.program.metric(figure), "kumiki", form="hybrid", **wanted)
    return [row for row in rows if row.usable]
