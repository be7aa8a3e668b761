"""What limits a program: the share of its time outside computation, and the causes of the loss against the ideal."""

from __future__ import annotations

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.analysis.compare import best, settled, speed
from kumiki.report.analysis.select import PARTS, Problem, option
from kumiki.report.quantity import factor, percent
from kumiki.results.row import Row

WORTH_NAMING = 0.05
"""A loss against the ideal below this share of the time needs no explanation."""
BEYOND_CACHES = 1.2
"""A computation that is this many times as fast per processor as the base case cannot be due to chance."""


def limit(problem: Problem) -> Advice | None:
    """The causes of the loss against the ideal, at the setting to use or the best one on several processors."""
    chosen = problem.best_hybrid
    several = [row for row in problem.hybrid.values() if row.processors > 1 and not row.oversubscribed]
    row = chosen[1] if chosen and chosen[1] in several else best(several)
    if row is None or problem.base is None:
        return None
    parts, shared = problem.parts(row), problem.shared(row)
    if shared is None or not settled(row) or not settled(problem.base):
        return None
    growth, grown = _growth(problem, row)
    text = (
        f"{problem.program.title} at {option((row.ranks, row.threads))} spends {percent(shared)} of its time in "
        f"communication and synchronisation{growth}: {_cause(problem, row, problem.base, shared)}."
    )
    return say("program", problem.program.title, text, [row, *parts.values(), problem.base, *grown])


def _cause(problem: Problem, row: Row, base: Row, shared: float) -> str:
    """The largest cause of the loss against the ideal, in words."""
    lost = 1 - base.value / row.processors / row.value
    shares = {name: part.value for name, part in problem.parts(row).items() if name != PARTS[0]}
    larger = max(shares, key=lambda name: shares[name])
    faster = (1 - lost) / (1 - shared) if shared < 1 else 1.0
    if shared > lost + WORTH_NAMING and faster >= BEYOND_CACHES:
        return (
            f"this is made up for by a computation that is {factor(faster)} times as fast per processor as the base "
            "case. Either the smaller pieces fit into caches, or the base case was disturbed: measure the base case "
            "again before you rely on this"
        )
    if shared > 1 / 2:
        return f"it is bound by {larger}; fewer ranks, larger problems or overlap help, but more cores do not"
    if lost <= WORTH_NAMING:
        return "almost nothing is lost against the ideal" if shared <= WORTH_NAMING else "this costs little"
    loss = f"most of the {percent(lost)} lost against the ideal is due to"
    if shared > lost / 2:
        return f"{loss} {larger}, which limits it"
    return f"{loss} slower computation, because the cores share memory bus, caches and clock"


def _growth(problem: Problem, top: Row) -> tuple[str, list[Row]]:
    """How the share grows with the ranks: from the fewest (above one) to the most that have a core each."""
    fitting = {}
    for ranks in sorted({n for n, _ in problem.hybrid if n > 1}):
        rows = [r for (n, _), r in problem.hybrid.items() if n == ranks and not r.oversubscribed]
        found = max((r for r in rows if problem.shared(r) is not None), key=speed, default=None)
        if found is not None:
            fitting[ranks] = found
    if not fitting:
        return "", []
    few, many = fitting[min(fitting)], fitting[max(fitting)]
    if few is many is top:
        return "", []
    at_few, at_many = (
        f"{percent(problem.shared(row) or 0.0)} at {option((row.ranks, row.threads))}" for row in (few, many)
    )
    words = f" ({at_few})" if few is many else f" (with more ranks: {at_few}, {at_many})"
    return words, [part for row in (few, many) for part in (row, *problem.parts(row).values())]
