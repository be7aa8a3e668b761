"""Moving data between ranks: put compared with MPI, and the size of the pieces to send."""

from __future__ import annotations

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.advisers.sizes import beside, best_by_size, half_peak, ranges
from kumiki.report.analysis.caches import holding
from kumiki.report.analysis.compare import against, best, better, equal, settled, stake, untold
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import by_bytes
from kumiki.report.quantity import amount, enumerate_words, factor, size_text
from kumiki.results.row import Row

HEADING = "Moving data between ranks"


def advise(results: Results) -> list[Advice]:
    pieces = [_latency(results), _bound(results), _bandwidth(results), _half_peak(results)]
    pieces += [_put_or_send(results, name) for name in results.mpis]
    return [piece for piece in pieces if piece]


def _curve(results: Results, operation: str, implementation: str) -> dict[int, Row]:
    return by_bytes(results.where(f"{operation}.bandwidth", implementation))


def _latency(results: Results) -> Advice | None:
    ours = _shortest(results.where("put.latency", "kumiki"))
    if ours is None:
        return None
    size = ours.count("bytes", 8)
    rivals = [row for metric in ("put.latency", "send.latency") for row in results.where(metric)]
    rivals = [
        row for row in rivals if row.implementation in results.peers and row.usable and row.count("bytes", 8) == size
    ]
    rival = best(rivals)
    if rival is None:
        return None
    name = f"{rival.title} {rival.metric.partition('.')[0]}"
    other = f"the fastest of its peers ({name}, {amount(rival)})"
    text = f"A put of {size_text(size)} with its signal arrives after {amount(ours)}, {against(ours, rival, other)}."
    return say("remote", HEADING, text, [ours, *rivals], stake((ours, rival)))


def _bound(results: Results) -> Advice | None:
    bounds = [row for row in results.where("bound.cacheline_pingpong") if row.usable]
    ours, bound = _shortest(results.where("put.latency", "kumiki")), best(bounds)
    if ours is None or bound is None or not (settled(ours) and settled(bound)):
        return None
    ratio = factor(ours.value / bound.value)
    text = (
        f"A cache line takes {amount(bound)} from core to core, so a message of any kind takes at least that; the "
        f"shortest put takes {ratio} times as long. Every small piece pays this cost: combine them before sending."
    )
    return say("remote", HEADING, text, [bound, ours])


def _bandwidth(results: Results) -> Advice | None:
    """The sizes at which put is faster than, equal to or slower than the best peer at that size."""
    ours = _curve(results, "put", "kumiki")
    rivals = best_by_size(
        ours, [_curve(results, operation, name) for operation in ("put", "send") for name in results.peers]
    )
    found = beside(ours, rivals)
    if found is None:
        return None
    verdict, rows = found
    text = f"Compared with the best peer at each size, the bandwidth of put is {verdict}"
    return say("remote", HEADING, text, rows)


def _half_peak(results: Results) -> Advice | None:
    """N-half: the size from which a put reaches half of the highest bandwidth."""
    curve = _curve(results, "put", "kumiki")
    found = half_peak(curve)
    if found is None:
        return None
    half_size, half, peak_size, peak = found
    largest_size, largest = max(curve.items())
    cache = holding(results, peak)
    reached = (
        f"{amount(peak)} at {size_text(peak_size)}{f', where its data stay in the {cache} cache' if cache else ''}"
    )
    reached = reached if half is peak else f"{amount(half)} of {reached}"
    text = (
        f"Send pieces of at least {size_text(half_size)}: from this size on, a put reaches half of its highest "
        "bandwidth "
        f"({reached})."
    )
    if largest_size > peak_size and better(peak, largest):
        text += (
            f" Beyond {size_text(peak_size)} it falls to {amount(largest)} at {size_text(largest_size)}: "
            "cut very large transfers into pieces if the receiver can use them one by one."
        )
    return say("remote", HEADING, text, [half, peak, largest])


def _put_or_send(results: Results, name: str) -> Advice | None:
    """Which of the two routines of an MPI to use, by size; the threshold is the one measured here."""
    puts, sends = _curve(results, "put", name), _curve(results, "send", name)
    sizes = sorted(set(puts) & set(sends))
    if len(sizes) < 3:
        return None
    put = ranges(sizes, [better(puts[size], sends[size]) for size in sizes])
    send = ranges(sizes, [better(sends[size], puts[size]) for size in sizes])
    same = ranges(sizes, [equal(puts[size], sends[size]) for size in sizes])
    unknown = ranges(sizes, [untold(puts[size], sends[size]) for size in sizes])
    choices = [f"use {routine} at {where}" for routine, where in (("put", put), ("send", send)) if where]
    choices += [f"use either at {same}, where they are equal (within 10 %)"] if same else []
    if 2 * sum(untold(puts[size], sends[size]) for size in sizes) > len(sizes):
        return None
    text = f"If a program must stay on {results.title(name)}: {enumerate_words(choices)}."
    text += f" At {unknown} these samples do not show which is better." if unknown else ""
    return say("remote", HEADING, text, [row for size in sizes for row in (puts[size], sends[size])])


def _shortest(rows: list[Row]) -> Row | None:
    """The fastest usable row of the size closest to a machine word, the size of a flag or counter."""
    usable = [row for row in rows if row.usable]
    return min(usable, key=lambda row: (abs(row.count("bytes", 8) - 8), row.value), default=None)
