"""Which routine of an MPI, or of Kumiki, moves a message of which size best (after section 2 of the JAMSTEC paper)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, takewhile

from kumiki.report.compare import best, equal
from kumiki.report.exhibit import Exhibit, Section
from kumiki.report.figures.routines import bandwidth
from kumiki.report.model import Results, Row
from kumiki.report.palette import title
from kumiki.report.quantity import enumerate_words, size_text

SUITE = "mpi"


NEAR = 0.9
"""A routine that has this share of the best one's bandwidth is as good: less is not worth a change."""
SIMPLE = ("send", "sendrecv", "isend")
"""The routines that need no preparation, in the order in which they are preferred."""


def by_size(results: Results) -> dict[str, dict[int, list[Row]]]:
    """The bandwidths of all routines, for each implementation; empty where the suite was not measured."""
    sizes: dict[str, dict[int, list[Row]]] = {}
    for row in results.suite(SUITE):
        wanted = row.text("scope") != "one" and row.unit == "GB/s" and "routine" in row.parameters
        if row.usable and wanted and "bytes" in row.parameters:
            sizes.setdefault(row.implementation, {}).setdefault(row.count("bytes"), []).append(row)
    return {name: dict(sorted(found.items())) for name, found in sizes.items()}


def best_routines(results: Results) -> dict[str, dict[int, Row]]:
    """The row of the highest bandwidth by size, for each implementation."""
    return {
        name: {size: top for size, rows in sizes.items() if (top := best(rows))}
        for name, sizes in by_size(results).items()
    }


def curves(results: Results, implementation: str) -> dict[str, dict[int, Row]]:
    """The bandwidth over all senders by routine and size."""
    found: dict[str, dict[int, Row]] = {}
    for row in results.where("routine.bandwidth", implementation, scope="all"):
        if row.usable:
            found.setdefault(row.text("routine"), {})[row.count("bytes")] = row
    return {routine: dict(sorted(sizes.items())) for routine, sizes in found.items()}


def implementations(results: Results) -> list[str]:
    return list(dict.fromkeys(row.implementation for row in results.where("routine.bandwidth") if row.usable))


def section(results: Results) -> Section:
    """A figure for each implementation."""

    def exhibits() -> Iterator[Exhibit]:
        for name in implementations(results):
            picture = bandwidth(f"routines-{name}", title(name), curves(results, name))
            if picture:
                yield Exhibit(
                    "Figure",
                    f"The routines of {title(name)} over the size of the message",
                    "Bytes sent by all ranks of an open chain per second: each rank sends to the next one and receives "
                    "from the one before. Median with its 95 % band, logarithmic on both axes.",
                    "Higher is better. Those that need a preparation (rsend, ssend, bsend) have it in their time; a "
                    "routine that falls behind the others as messages grow waits for its receiver.",
                    "Figures 1 to 6 of the JAMSTEC paper",
                    picture=picture,
                )

    intro = "Which of its routines an MPI moves a message with best depends on the size, and on the machine."
    return Section.of(results, SUITE, "Routines that send", intro, exhibits())


def sentence(results: Results) -> tuple[str, list[Row]] | None:
    """Which routine to use up to which size, and the rows that say so."""
    alike: dict[str, list[str]] = {}
    cited: list[Row] = []
    for name, sizes in by_size(results).items():
        chosen = _chosen(sizes)
        alike.setdefault(_thresholds(chosen), []).append(title(name))
        cited += chosen.values()
    if not alike:
        return None
    words = [f"with {enumerate_words(names)} {thresholds}" for thresholds, names in alike.items()]
    return f"Send {'; '.join(words)}.", cited


def _chosen(sizes: dict[int, list[Row]]) -> dict[int, Row]:
    """As few routines as do: from each size on the one that stays as good as the best for the longest."""
    good = {size: {row.text("routine"): row for row in _good(rows)} for size, rows in sizes.items()}
    chosen: dict[int, Row] = {}
    left = list(sizes)
    while left:
        runs = [(name, _run(name, left, good)) for name in _by_ease(good[left[0]])]
        name, longest = max(runs, key=lambda run: len(run[1]))  # the first of the longest ones
        chosen |= {size: good[size][name] for size in longest}
        left = left[len(longest) :]
    return chosen


def _run(routine: str, sizes: list[int], good: dict[int, dict[str, Row]]) -> list[int]:
    """The first of these sizes, as far as the routine is good at all of them."""
    return list(takewhile(lambda size: routine in good[size], sizes))


def _good(rows: list[Row]) -> list[Row]:
    top = max(rows, key=lambda row: row.value)
    return [row for row in rows if row.value >= NEAR * top.value or equal(row, top)]


def _by_ease(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: SIMPLE.index(name.lower()) if name.lower() in SIMPLE else len(SIMPLE))


def _thresholds(rows: dict[int, Row]) -> str:
    """Neighbouring sizes of one routine run together: 'by send up to 64 KiB, by sendrecv above'."""
    runs = [(routine, list(group)) for routine, group in groupby(rows.values(), lambda r: r.text("routine"))]
    if len(runs) == 1:
        return f"by {runs[0][0]} at every size"
    words = [f"by {routine} up to {size_text(group[-1].count('bytes'))}" for routine, group in runs[:-1]]
    return enumerate_words([*words, f"by {runs[-1][0]} above"])
