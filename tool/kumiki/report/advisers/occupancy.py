"""How full to load the cores: leave one free, use all, or start more threads than there are cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.compare import best, better, equal, speed
from kumiki.report.model import Results, Row
from kumiki.report.quantity import amount, enumerate_words, factor, percent, plural
from kumiki.report.select import PROGRAMS, Problem, cores, principal

HEADING = "Loading the cores"


def advise(results: Results) -> list[Advice]:
    total = cores(results)
    found = [problem for program in PROGRAMS if (problem := principal(results, program)) and problem.hybrid]
    return of_problems(found, total) if total else []


def of_problems(found: list[Problem], total: int) -> list[Advice]:
    """What the programs say of loading this many cores."""
    if total < 2 or not found:
        return []
    return [piece for piece in (_spare(found, total), _crowd(found, total)) if piece]


def _fastest(problem: Problem, holds: Callable[[Row], bool]) -> Row | None:
    rows: Iterable[Row] = [row for row in problem.hybrid.values() if holds(row)]
    return best(rows)


def _spare(found: list[Problem], total: int) -> Advice | None:
    """Whether a core left to the operating system is a core well spent."""
    pairs: list[tuple[Problem, Row, Row]] = []
    for problem in found:
        full = _fastest(problem, lambda row: row.processors == total and not row.oversubscribed)
        # The nearest smaller count that was measured stands for "one free"; on few cores that is exactly one.
        counts = {row.processors for row in problem.hybrid.values() if total / 2 <= row.processors < total}
        less = _fastest(problem, lambda row, counts=counts: row.processors == max(counts)) if counts else None  # type: ignore[misc]
        if full and less:
            pairs.append((problem, full, less))
    if not pairs:
        return None
    spared = total - max(less.processors for _, _, less in pairs)
    freed = f"leaving {plural(spared, 'core')} of {total} free"
    gains = [f"{p.name} ({amount(less)} against {amount(full)})" for p, full, less in pairs if better(less, full)]
    same = [p.name for p, full, less in pairs if equal(less, full)]
    losses = [pair for pair in pairs if better(pair[1], pair[2])]
    words = []
    if gains:
        words.append(f"{freed} is faster than using all of them for {enumerate_words(gains)}")
    if same:
        words.append(f"{freed if not words else 'it'} is equal to using all of them for {enumerate_words(same)}")
    if losses:
        worst = max(losses, key=lambda pair: speed(pair[1]) / speed(pair[2]))
        figures = f"{amount(worst[2])} instead of {amount(worst[1])}"
        costs = "costs most in" if len(losses) > 1 else "is slower for"
        words.append(f"{'it' if words else freed} {costs} {worst[0].name}, {figures}")
    start = "Use all cores: " if losses and not gains and not same else ""
    text = "; ".join(words)
    text = (start + text if start else text[0].upper() + text[1:]) + "."
    return say("occupancy", HEADING, text, [row for _, full, less in pairs for row in (full, less)])


def _crowd(found: list[Problem], total: int) -> Advice | None:
    """What more threads than cores do to each program, from its best such setting to its worst."""
    costs, harmless, wins = [], [], []
    rows: list[Row] = []
    most = 0
    for problem in found:
        full = _fastest(problem, lambda row: not row.oversubscribed)
        crowded = sorted((row for row in problem.hybrid.values() if row.oversubscribed), key=speed, reverse=True)
        if full is None or not crowded:
            continue
        least, worst = crowded[0], crowded[-1]
        rows += [full, least, worst]
        most = max(most, *(row.processors for row in crowded))
        if better(least, full):
            wins.append(problem.name)
        elif better(full, worst):
            costs.append(f"{_range(full, least, worst)} in {problem.name}")
        else:
            harmless.append(problem.name)
    if not rows:
        return None
    words = [f"costs {enumerate_words(costs)}"] if costs else []
    words += [f"makes no difference beyond the confidence intervals in {enumerate_words(harmless)}"] if harmless else []
    words += [f"is faster in {enumerate_words(wins)}"] if wins else []
    start = (
        "Do not start more threads than cores: it"
        if costs
        else "Starting more threads than cores does no harm here: it"
    )
    text = (
        f"{start} {enumerate_words(words)}, against the best with a core for everyone (up to {most} threads on "
        f"{plural(total, 'core')})."
    )
    return say("occupancy", HEADING, text, rows)


def _range(full: Row, least: Row, worst: Row) -> str:
    """The cost of crowding as '3 % to 12 %', 'up to 12 %' where the least cannot be told from none, or as factors."""
    low, high = speed(full) / speed(least), speed(full) / speed(worst)
    large = high >= 2
    ends = [factor(ratio) if large else percent(ratio - 1.0) for ratio in (low, high)]
    words = f"up to {ends[1]}" if equal(full, least) else ends[1] if equal(least, worst) else f"{ends[0]} to {ends[1]}"
    return f"{words} times the time" if large else words
