"""Which kind of program each one is on this machine: limited by the memory bus, or working in the caches.

The paper's relation: the speed-up of a streaming program with T threads is that of the bus, total(T) / total(1); the
speed-up of a program that reuses its caches is T. A program belongs to the kind whose speed-up is closer to its own, as
a ratio, over its whole interval; a program whose interval leaves this open is left out. Little gain alone does not say
that the bus is the cause: where the data that the program must move were moved without it, they must have gained as
little, or the program must come close to that.
"""

from __future__ import annotations

import math

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.advisers.memory import FULL, by_threads
from kumiki.report.analysis.bound import NEAR, share
from kumiki.report.analysis.compare import gain
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS, Problem, principal
from kumiki.report.quantity import enumerate_words, factor, plural
from kumiki.results.row import Row
from kumiki.results.statistics import Contrast

HEADING = "Kinds of program"


def advise(results: Results) -> list[Advice]:
    bus = by_threads(results, "copy")
    gains = [entry for program in PROGRAMS if (entry := _entry(principal(results, program), set(bus)))]
    if not gains or 1 not in bus:
        return []
    threads = max(entry[1] for entry in gains)
    entries = [entry for entry in gains if entry[1] == threads and not math.isinf(entry[2].high)]
    delivered = gain(bus[threads], bus[1])
    bus_gain = delivered.ratio
    rows = [bus[1], bus[threads], *(row for entry in entries for row in entry[3])]
    if delivered.low >= FULL * threads:
        return [say("character", HEADING, _bus_scales(entries, threads, bus_gain), rows)]
    if delivered.high >= FULL * threads:
        return []  # the samples do not show whether there are two kinds; the advice on the memory bus says so
    between = math.sqrt(bus_gain * threads)
    slow = [entry for entry in entries if entry[2].high < between]
    free = [entry for entry in entries if entry[2].low > between]
    if not slow and not free:
        return []
    held = [entry for entry in slow if _is_bound(entry, between)]
    others = [entry for entry in slow if entry not in held]
    return [say("character", HEADING, _kinds(held, others, free, threads, bus_gain), rows)]


_Entry = tuple[Problem, int, Contrast, list[Row]]
"""A problem, the number of threads, the speed-up of its computation from them, and the rows that show it."""


def _entry(problem: Problem | None, measured: set[int]) -> _Entry | None:
    """The speed-up of the computation alone, so that communication does not blur the picture."""
    if problem is None:
        return None
    one = problem.hybrid.get((1, 1))
    many = [
        row
        for (ranks, threads), row in problem.hybrid.items()
        if ranks == 1 and threads > 1 and threads in measured and not row.oversubscribed
    ]
    last = max(many, key=lambda row: row.threads, default=None)
    if one is None or last is None:
        return None
    before, after = problem.part(one, "computation") or one, problem.part(last, "computation") or last
    return problem, last.threads, gain(after, before), [before, after]


def _is_bound(entry: _Entry, between: float) -> bool:
    """Whether moving its data explains its little gain: by its own bound, if that was measured."""
    problem, threads, _, _ = entry
    bounds = problem.bounds
    if not {1, threads} <= set(bounds):
        return True
    part = share(problem, problem.hybrid[1, threads])
    return gain(bounds[threads], bounds[1]).ratio < between or (part is not None and part >= NEAR)


def _names(entries: list[_Entry]) -> str:
    return enumerate_words([f"{problem.program.title} ({factor(more.ratio)} times)" for problem, _, more, _ in entries])


def _bus_scales(entries: list[_Entry], threads: int, bus_gain: float) -> str:
    return (
        f"The bandwidth of the memory bus grows with the threads here ({factor(bus_gain)} times with {threads}), so "
        "streaming programs and programs that work in the caches benefit alike. "
        f"Speed-up of the computation with {plural(threads, 'thread')}: {_names(entries)}."
    )


def _kinds(held: list[_Entry], others: list[_Entry], free: list[_Entry], threads: int, bus_gain: float) -> str:
    text = f"With {threads} threads the memory bus delivers {factor(bus_gain)} times the bandwidth of one thread."
    if held:
        text += f" Limited by it, with about as little gain from threads: {_names(held)}; block them for the caches."
    if others:
        text += f" As little gain, but not because of the bus, which could move their data faster: {_names(others)}."
    if free:
        text += f" Working in the caches, with a gain well beyond that of the bus: {_names(free)}."
    return text
