"""Compares figures by size: at which sizes one is higher, equal, or lower."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from kumiki.report.analysis.compare import best, better, equal, untold
from kumiki.report.quantity import amount, enumerate_words, size_text
from kumiki.results.row import Row
from kumiki.results.statistics import FEWEST_SAMPLES

Sizes = Mapping[int, Row]
"""Rows by size, ascending."""


def best_by_size(sizes: Iterable[int], curves: Iterable[Sizes]) -> dict[int, Row]:
    """The best row of all curves at each of these sizes, if there is one."""
    known = list(curves)
    tops = {size: best(curve[size] for curve in known if size in curve) for size in sizes}
    return {size: top for size, top in tops.items() if top is not None}


def beside(ours: Sizes, rivals: Sizes) -> tuple[str, list[Row]] | None:
    """'higher at 1 B to 4 KiB; lower at 64 KiB. The widest gap is at ...', and the rows that support it.

    None if the samples decide for no size which bandwidth is higher.
    """
    sizes = [size for size in ours if size in rivals]
    if not sizes:
        return None
    verdicts: dict[str, Callable[[Row, Row], bool]] = {
        "higher at": better,
        "equal (within 10 %) at": equal,
        "lower at": lambda a, b: better(b, a),
        "not distinguishable in these samples at": untold,
    }
    if all(untold(ours[size], rivals[size]) for size in sizes):
        return None
    found = {words: ranges(sizes, [holds(ours[s], rivals[s]) for s in sizes]) for words, holds in verdicts.items()}
    text = "; ".join(f"{words} {where}" for words, where in found.items() if where) + "."
    told_apart = [size for size in sizes if better(ours[size], rivals[size]) or better(rivals[size], ours[size])]
    if told_apart:
        widest = max(told_apart, key=lambda size: abs(math.log(ours[size].value / rivals[size].value)))
        a, b = ours[widest], rivals[widest]
        text += f" The widest gap is at {size_text(widest)}: {amount(a)} against {amount(b)} ({b.title})."
    return text, [row for size in sizes for row in (ours[size], rivals[size])]


def half_peak(curve: Sizes) -> tuple[int, Row, int, Row] | None:
    """N-half: the size from which every row reaches half the peak bandwidth, its row, the size of the peak and its row.

    None if the samples leave open whether it is that size.
    """
    if len(curve) < 3:
        return None
    peak_size, peak = max(curve.items(), key=lambda item: item[1].value)
    low = [size for size, row in curve.items() if size < peak_size and row.value < peak.value / 2]
    half_size, half = next((size, row) for size, row in curve.items() if not low or size > low[-1])
    told = peak.n >= FEWEST_SAMPLES and half.n >= FEWEST_SAMPLES
    surely = told and (half is peak or half.interval[1] >= peak.interval[0] / 2)
    return (half_size, half, peak_size, peak) if surely else None


def ranges(sizes: list[int], holds: list[bool]) -> str:
    """The sizes at which something holds, as ranges of adjacent sizes: '1 B to 64 KiB and 1 MiB'."""
    runs: list[list[int]] = []
    previous = False
    for size, now in zip(sizes, holds, strict=True):
        if now and previous:
            runs[-1].append(size)
        elif now:
            runs.append([size])
        previous = now
    if len(runs) == 1 and len(runs[0]) == len(sizes):
        return "every size measured"
    return enumerate_words(
        [size_text(run[0]) if len(run) == 1 else f"{size_text(run[0])} to {size_text(run[-1])}" for run in runs]
    )
