"""Moving data between ranks: put against MPI, and how large the pieces should be."""

from __future__ import annotations

import math
from collections.abc import Callable

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.compare import against, best, better, equal
from kumiki.report.model import Results, Row
from kumiki.report.palette import title
from kumiki.report.quantity import amount, enumerate_words, factor, size_text
from kumiki.report.select import MPI, PEERS

HEADING = "Moving data between ranks"


def advise(results: Results) -> list[Advice]:
    pieces = [_latency(results), _bound(results), _bandwidth(results), _half_peak(results)]
    pieces += [_put_or_send(results, name) for name in MPI]
    return [piece for piece in pieces if piece]


def by_bytes(results: Results, metric: str, implementation: str) -> dict[int, Row]:
    rows = [row for row in results.where(metric, implementation) if row.usable and "bytes" in row.parameters]
    return {row.count("bytes"): row for row in sorted(rows, key=lambda row: row.count("bytes"))}


def _latency(results: Results) -> Advice | None:
    ours = _shortest(results.where("put.latency", "kumiki"))
    if ours is None:
        return None
    size = ours.count("bytes", 8)
    rivals = [row for metric in ("put.latency", "send.latency") for row in results.where(metric)]
    rivals = [row for row in rivals if row.implementation in PEERS and row.usable and row.count("bytes", 8) == size]
    rival = best(rivals)
    if rival is None:
        return None
    name = f"{title(rival.implementation)} {rival.metric.partition('.')[0]}"
    other = f"the fastest of its peers ({name}, {amount(rival)})"
    text = f"A put of {size_text(size)} with its signal arrives after {amount(ours)}, {against(ours, rival, other)}."
    return say("remote", HEADING, text, [ours, *rivals])


def _bound(results: Results) -> Advice | None:
    bounds = [row for row in results.where("bound.cacheline_pingpong") if row.usable]
    ours, bound = _shortest(results.where("put.latency", "kumiki")), best(bounds)
    if ours is None or bound is None:
        return None
    ratio = factor(ours.value / bound.value)
    text = (
        f"One cache line takes {amount(bound)} from core to core, and a message of any kind at least that; the "
        f"shortest put takes {ratio} times as long. Small pieces pay this each: collect them before sending."
    )
    return say("remote", HEADING, text, [bound, ours])


def _bandwidth(results: Results) -> Advice | None:
    """At which sizes put is faster than, equal to or slower than the best that any peer reaches at that size."""
    ours = by_bytes(results, "put.bandwidth", "kumiki")
    rivals: dict[int, Row] = {}
    for size in ours:
        rows = [by_bytes(results, m, name).get(size) for m in ("put.bandwidth", "send.bandwidth") for name in PEERS]
        rival = best(row for row in rows if row)
        if rival is not None:
            rivals[size] = rival
    if not rivals:
        return None
    sizes = list(rivals)

    def ranges(holds: Callable[[Row, Row], bool]) -> str:
        return _ranges(sizes, [holds(ours[size], rivals[size]) for size in sizes])

    words = {
        "higher at": ranges(better),
        "equal within the confidence intervals at": ranges(equal),
        "lower at": ranges(lambda a, b: better(b, a)),
    }
    verdict = "; ".join(f"{name} {sizes}" for name, sizes in words.items() if sizes)
    text = f"Beside the best of its peers at the same size, the bandwidth of put is {verdict}."
    told_apart = [size for size in sizes if not equal(ours[size], rivals[size])]
    if told_apart:
        widest = max(told_apart, key=lambda size: abs(math.log(ours[size].value / rivals[size].value)))
        a, b = ours[widest], rivals[widest]
        text += (
            f" The widest gap is at {size_text(widest)}: {amount(a)} against {amount(b)} ({title(b.implementation)})."
        )
    return say("remote", HEADING, text, [row for size in sizes for row in (ours[size], rivals[size])])


def _half_peak(results: Results) -> Advice | None:
    """N-half: the size from which a put reaches half of the highest bandwidth."""
    curve = by_bytes(results, "put.bandwidth", "kumiki")
    if len(curve) < 3:
        return None
    peak_size, peak = max(curve.items(), key=lambda item: item[1].value)
    half_size, half = next((size, row) for size, row in curve.items() if row.value >= peak.value / 2.0)
    largest_size, largest = max(curve.items())
    reached = f"{amount(peak)} at {size_text(peak_size)}"
    reached = reached if half is peak else f"{amount(half)} of {reached}"
    text = (
        f"Send pieces of at least {size_text(half_size)}: from there a put reaches half of its highest bandwidth "
        f"({reached})."
    )
    if largest_size > peak_size and better(peak, largest):
        text += (
            f" Beyond {size_text(peak_size)} it falls, to {amount(largest)} at {size_text(largest_size)}: "
            "cut very large transfers into pieces where the receiver can use them one by one."
        )
    return say("remote", HEADING, text, [half, peak, largest])


def _put_or_send(results: Results, name: str) -> Advice | None:
    """Which of its two routines to use under one MPI, by size: the threshold is the one measured here."""
    puts, sends = by_bytes(results, "put.bandwidth", name), by_bytes(results, "send.bandwidth", name)
    sizes = sorted(set(puts) & set(sends))
    if len(sizes) < 3:
        return None
    put = _ranges(sizes, [better(puts[size], sends[size]) for size in sizes])
    send = _ranges(sizes, [better(sends[size], puts[size]) for size in sizes])
    if not put and not send:
        text = (
            f"Under {title(name)}, put and send reach the same bandwidth within the confidence intervals at every size."
        )
    else:
        choices = [f"use {routine} at {where}" for routine, where in (("put", put), ("send", send)) if where]
        text = f"If a program must stay on {title(name)}: {enumerate_words(choices)}; elsewhere the two are equal."
        if len(sizes) == sum(better(puts[s], sends[s]) or better(sends[s], puts[s]) for s in sizes):
            text = text.removesuffix("; elsewhere the two are equal.") + "."
    return say("remote", HEADING, text, [row for size in sizes for row in (puts[size], sends[size])])


def _ranges(sizes: list[int], holds: list[bool]) -> str:
    """The sizes where something holds, as ranges of neighbouring sizes: '1 B to 64 KiB and 1 MiB'."""
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


def _shortest(rows: list[Row]) -> Row | None:
    """The fastest usable row of the size nearest to one machine word, which is what a flag or a counter needs."""
    usable = [row for row in rows if row.usable]
    return min(usable, key=lambda row: (abs(row.count("bytes", 8) - 8), row.value), default=None)
