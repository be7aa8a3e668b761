"""The memory bus: how many threads saturate it, and what follows (after Table 1 of the COMPaS paper)."""

from __future__ import annotations

from kumiki.report.advisers.again import again
from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.analysis.caches import last_level
from kumiki.report.analysis.compare import against, best, better, equal, gain, stake, untold
from kumiki.report.analysis.model import Results
from kumiki.report.quantity import amount, factor, plural, size_text
from kumiki.results.row import Row

HEADING = "Memory bus"

FULL = 0.9
"""A bus that delivers this share of its highest rate counts as saturated."""
BEYOND_CACHES = 4
"""Arrays of so many times the caches pass through memory, as STREAM demands it."""


def by_threads(results: Results, operation: str) -> dict[int, Row]:
    """Rates of one operation by number of threads, without oversubscribed rows."""
    rows = [row for row in results.where(f"memory.{operation}") if row.usable and not row.oversubscribed]
    return {row.threads: row for row in sorted(rows, key=lambda row: row.threads)}


def saturates(rates: dict[int, Row]) -> bool | None:
    """Whether the bus cannot serve all the threads that were measured; None if the samples do not show it."""
    fewest, most = min(rates), max(rates)
    top = best(rates.values())
    carried = gain(top, rates[fewest]) if top else None
    if carried is None or (carried.low < FULL * most / fewest <= carried.high):
        return None
    return carried.high < FULL * most / fewest


def filling(rates: dict[int, Row]) -> int:
    """The smallest number of threads that reaches the highest rate, or one equal to it."""
    top = max(rates.values(), key=lambda row: row.value)
    return next(threads for threads, row in rates.items() if row is top or equal(row, top))


def advise(results: Results) -> list[Advice]:
    return [piece for piece in (_saturation(results), _nontemporal(results), _cached(results)) if piece]


def _saturation(results: Results) -> Advice | None:
    rates = by_threads(results, "copy")
    if len(rates) < 2:
        return None
    first, last = rates[min(rates)], rates[max(rates)]
    full_bus = saturates(rates)
    if full_bus is None:
        text = (
            f"These samples do not show whether {plural(last.threads, 'thread')} saturate the memory bus: copying "
            f"reaches {amount(first)} with {plural(first.threads, 'thread')} and {amount(last)} with {last.threads}. "
            f"{again(results, ['memory'])}"
        )
        return say("memory", HEADING, text, [first, last])
    if not full_bus:
        text = (
            f"The memory bus is not saturated by the {last.threads} threads measured: the copy rate grows from "
            f"{amount(first)} with {plural(first.threads, 'thread')} to {amount(last)}, "
            f"{factor(last.value / first.value)} times as much, so programs that stream through memory gain from every "
            "thread."
        )
        return say("memory", HEADING, text, [first, last])
    filled = filling(rates)
    full = rates[filled]
    if full is last:
        course = (
            f"together they copy {amount(last)}, compared with {amount(first)} for {plural(first.threads, 'thread')}"
        )
    else:
        change = "falls to" if better(full, last) else "stays at"
        course = f"the copy rate reaches {amount(full)} there and {change} {amount(last)} with {last.threads}"
    fewest = first.threads
    at = f"at {plural(filled, 'thread')}" + (" or fewer" if filled == fewest > 1 else "")
    most = f"at most {factor(full.value / first.value)} times the speed" if better(full, first) else "nothing"
    beyond = "" if fewest == 1 else f" beyond {fewest}"
    text = (
        f"The memory bus saturates {at}: {course}. Programs that stream through memory gain "
        f"{most} from threads{beyond}; make them reuse data in the caches (blocking) instead of adding threads."
    )
    return say("memory", HEADING, text, [first, full, last])


def _nontemporal(results: Results) -> Advice | None:
    plain, streaming = by_threads(results, "memcpy"), by_threads(results, "nontemporal")
    threads = max(set(plain) & set(streaming), default=None)
    if threads is None:
        return None
    a, b = streaming[threads], plain[threads]
    figures = f"{against(a, b, 'memcpy')}: {amount(a)} and {amount(b)} with {plural(threads, 'thread')}"
    if untold(a, b):
        return None
    if better(a, b):
        text = f"Copy large blocks that are not read again soon with non-temporal stores, which are {figures}."
    else:
        text = f"Leave large copies to memcpy: non-temporal stores are {figures}."
    return say("memory", HEADING, text, [a, b], stake((a, b)))


def _cached(results: Results) -> Advice | None:
    """Whether the arrays are too small to say something of memory."""
    rows, cache = list(by_threads(results, "copy").values()), last_level(results)
    array = max((row.count("bytes", 0) for row in rows), default=0)
    if cache is None or not array or array >= BEYOND_CACHES * cache:
        return None
    text = (
        f"The arrays of the memory bus's figures have {size_text(array)} each, and the caches of the last level "
        f"{size_text(cache)}: the rates may partly be those of caches. Arrays of {BEYOND_CACHES} times the caches "
        "would show memory alone (`memory --bytes`)."
    )
    return say("memory", HEADING, text, rows)
