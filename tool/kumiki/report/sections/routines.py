"""The send routines, measured along a chain of ranks."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report import tables
from kumiki.report.analysis import routines as rows_of
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.routines import PREPARED, SUITE, best_routines, by_size, curves
from kumiki.report.figures.routines import bandwidth, of_single_processes
from kumiki.report.page.exhibit import Exhibit, Section
from kumiki.report.palette import looks, rank_looks
from kumiki.report.quantity import enumerate_words
from kumiki.suites.described import JAMSTEC

_CHAIN = (
    "Bytes sent per second by all ranks of an open chain: each rank sends to the next one and receives from the "
    "previous one."
)
_BAND = "Median with its 95 % band, logarithmic on both axes."


def routines(results: Results) -> Section:
    """The best routine of each implementation side by side, then a figure for each implementation."""
    intro = (
        "Which send routine of an MPI is the fastest depends on the message size and on the machine. Kumiki's messages "
        "travel along the same chain."
    )
    return Section.of(results, SUITE, "Send routines", intro, _exhibits(results))


def _exhibits(results: Results) -> Iterator[Exhibit]:
    table = tables.routines(results)
    if table:
        yield Exhibit(
            "Table",
            "The best routine by size",
            f"{_CHAIN} Each column shows the fastest routine of an implementation, with its name.",
            "Higher is better. The best figure of each line, and those equal to it, are in bold.",
            table=table,
            wide=True,
        )
    known = looks(row.implementation for row in results.rows)
    found = {results.title(name): rows for name, rows in best_routines(results).items()}
    whole, one = rows_of.bound(results, "all"), rows_of.bound(results, "one")
    picture = bandwidth(
        "routines-best", "The best routines", found, {results.title(name): look for name, look in known.items()}, whole
    )
    if picture and len(found) > 1:
        yield Exhibit(
            "Figure",
            "The best routine of each implementation over the size of the message",
            f"The table above. {_BAND}",
            "Higher is better. Where a curve drops, the implementation changes its protocol (eager to rendezvous): "
            "from "
            "there on, a message waits for its receiver.",
            picture=picture,
        )
    for name in by_size(results):
        own = curves(results, name)
        shades = dict(zip(own, rank_looks(range(len(own))).values(), strict=True))
        picture = bandwidth(f"routines-{name}", f"The routines of {results.title(name)}", own, shades, whole)
        if picture:
            prepared = [routine for routine in PREPARED if routine in own]
            cost = f" The time of {enumerate_words(prepared)} includes the preparation;" if prepared else ""
            yield Exhibit(
                "Figure",
                f"The routines of {results.title(name)} over the size of the message",
                f"{_CHAIN} {_BAND}",
                f"Higher is better.{cost} {'a' if cost else 'A'} routine that falls behind the others as messages grow "
                "waits for its receiver.",
                "Figures 1, 3 and 5",
                picture=picture,
                source=JAMSTEC,
            )
        picture = of_single_processes(
            f"routines-one-{name}",
            f"The routines of {results.title(name)}",
            rows_of.of_single_processes(results, name),
            shades,
            one,
        )
        if picture:
            yield Exhibit(
                "Figure",
                f"The routines of {results.title(name)} as a single process sees them",
                "Bytes of a message divided by the time that one process of the chain itself needs to send and receive "
                "it; the faint line at each point ranges from the slowest process of the chain to the fastest.",
                "Higher is better. The first process only sends and the last only receives: where a faint line is "
                "long, sends complete before the message has arrived, and the processes in the middle wait.",
                "Figures 2, 4 and 6",
                picture=picture,
                source=JAMSTEC,
            )
