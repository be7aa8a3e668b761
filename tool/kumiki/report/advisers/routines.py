"""Advice on the send routine to use for each message size."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, takewhile

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.advisers.sizes import beside, best_by_size, ranges
from kumiki.report.analysis.compare import better, no_worse
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.routines import SIMPLE, best_routines, by_size
from kumiki.report.quantity import enumerate_words, size_text
from kumiki.results.row import Row

NEAR = 0.9
"""A routine with this share of the best one's bandwidth counts as good: a smaller gain is not worth a change."""


HEADING = "Send routines"


def advise(results: Results) -> list[Advice]:
    found = sentence(results)
    pieces = [say("routine", HEADING, *found) if found else None, _ours(results)]
    return [piece for piece in pieces if piece]


def _ours(results: Results) -> Advice | None:
    """The sizes at which Kumiki's messages are the fastest."""
    tops = best_routines(results)
    ours = tops.pop("kumiki", {})
    found = beside(ours, best_by_size(ours, tops.values()))
    if found is None:
        return None
    verdict, rows = found
    text = f"Compared with the best routine of any MPI at each size, the bandwidth of Kumiki's messages is {verdict}"
    if any(row.oversubscribed for row in rows):
        text += " There are more ranks than cores here, so the figures include the time until a rank gets a core."
    return say("routine", HEADING, text, rows)


def sentence(results: Results) -> tuple[str, list[Row]] | None:
    """Which routine to use up to which size, and the rows that support it."""
    alike: dict[str, list[str]] = {}
    cited: list[Row] = []
    unknown: list[str] = []
    for name, sizes in by_size(results).items():
        chosen = _chosen(sizes)
        told = [all(no_worse(row, other) for other in sizes[size] if other is not row) for size, row in chosen.items()]
        if any(told):
            alike.setdefault(_thresholds(chosen), []).append(results.title(name))
        if not all(told):
            where = ranges(list(chosen), [not told_one for told_one in told])
            unknown.append(f"{results.title(name)} at {where}")
        cited += chosen.values()
    if not alike:
        return None
    words = [f"with {enumerate_words(names)} {thresholds}" for thresholds, names in alike.items()]
    text = f"Send {'; '.join(words)}."
    if unknown:
        text += f" These samples do not distinguish the routines for {enumerate_words(unknown)}."
    return text, cited


def _chosen(sizes: dict[int, list[Row]]) -> dict[int, Row]:
    """The smallest set of routines: from each size on, the one that stays as good as the best for the longest.

    A routine that is not shown to be worse counts as good: any but the simplest must prove that it is better.
    """
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
    """The leading sizes at all of which the routine is good."""
    return list(takewhile(lambda size: routine in good[size], sizes))


def _good(rows: list[Row]) -> list[Row]:
    # If ranks share cores, a routine that needs preparation may win through scheduling alone, no ground for advice.
    simple = [row for row in rows if row.text("routine").lower() in SIMPLE]
    rows = simple if simple and any(row.oversubscribed for row in rows) else rows
    top = max(rows, key=lambda row: row.value)
    return [row for row in rows if row.value >= NEAR * top.value or not better(top, row)]


def _by_ease(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: SIMPLE.index(name.lower()) if name.lower() in SIMPLE else len(SIMPLE))


def _thresholds(rows: dict[int, Row]) -> str:
    """Merges adjacent sizes of one routine: 'by send up to 64 KiB, by sendrecv above'."""
    runs = [(routine, list(group)) for routine, group in groupby(rows.values(), lambda r: r.text("routine"))]
    if len(runs) == 1:
        return f"by {runs[0][0]} at every size"
    words = [f"by {routine} up to {size_text(group[-1].count('bytes'))}" for routine, group in runs[:-1]]
    return enumerate_words([*words, f"by {runs[-1][0]} above"])
