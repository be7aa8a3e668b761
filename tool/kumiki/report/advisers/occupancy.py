"""How many cores to use: leave one free, use all, or start more threads than there are cores."""

from __future__ import annotations

from collections.abc import Callable

from kumiki.report.advisers.again import again
from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.analysis.compare import best, better, clearly_better, equal, speed, stake, untold, within
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS, Problem, cores, option, principal
from kumiki.report.quantity import amount, enumerate_words, factor, percent, plural
from kumiki.results.row import Row

HEADING = "How many cores to use"

_Pair = tuple[Problem, Row, Row]
"""A problem, its best setting with all cores, and the setting to compare it with."""


def advise(results: Results) -> list[Advice]:
    total = cores(results)
    found = [problem for program in PROGRAMS if (problem := principal(results, program)) and problem.hybrid]
    return of_problems(found, total) if total else []


def of_problems(found: list[Problem], total: int) -> list[Advice]:
    """Advice from the programs on how many of this many cores to use."""
    if total < 2 or not found:
        return []
    return [piece for piece in (_spare(found, total), _crowd(found, total)) if piece]


def _fastest(problem: Problem, holds: Callable[[Row], bool]) -> Row | None:
    return best(row for row in problem.hybrid.values() if holds(row))


def _spare(found: list[Problem], total: int) -> Advice | None:
    """Whether it pays off to leave a core to the operating system."""
    pairs: list[_Pair] = []
    for problem in found:
        full = _fastest(problem, lambda row: row.processors == total and not row.oversubscribed)
        # The closest smaller count that was measured represents "one free"; on few cores that is exactly one.
        counts = {row.processors for row in problem.hybrid.values() if total / 2 <= row.processors < total}
        less = _fastest(problem, lambda row, counts=counts: row.processors == max(counts)) if counts else None  # type: ignore[misc]
        if full and less:
            pairs.append((problem, full, less))
    if not pairs:
        return None
    # Programs that were measured only with fewer processors say nothing of leaving this many cores free.
    most = max(less.processors for _, _, less in pairs)
    pairs = [pair for pair in pairs if pair[2].processors == most]
    spared = total - most
    freed = f"leaving {plural(spared, 'core')} of {total} free"
    gains = [pair for pair in pairs if better(pair[2], pair[1])]
    same = [pair for pair in pairs if equal(pair[1], pair[2])]
    losses = [pair for pair in pairs if better(pair[1], pair[2])]
    unknown = [pair for pair in pairs if untold(pair[1], pair[2])]
    words = []
    if gains:
        names = enumerate_words([f"{p.name} ({amount(less)} against {amount(full)})" for p, full, less in gains])
        words.append(f"{freed} is faster than using all of them for {names}")
    if same:
        names = enumerate_words([f"{p.name} ({within((full, less))})" for p, full, less in same])
        words.append(f"{'it' if words else freed} is equal to using all of them for {names}")
    if losses:
        worst = max(losses, key=lambda pair: speed(pair[1]) / speed(pair[2]))
        figures = f"{amount(worst[2])} instead of {amount(worst[1])}"
        costs = "costs most for" if len(losses) > 1 else "is slower for"
        words.append(f"{'it' if words else freed} {costs} {worst[0].name}, {figures}")
    start = "Use all cores: " if losses and not gains and not same and not unknown else ""
    text = "; ".join(words)
    text = (start + text if start else text[:1].upper() + text[1:]) + "." if text else ""
    text = f"{text} {_untold(unknown, f'whether {freed} is faster or slower')}".strip()
    return say("occupancy", HEADING, text, [row for _, full, less in pairs for row in (full, less)])


def _crowd(found: list[Problem], total: int) -> Advice | None:
    """The effect of more threads than cores on each program, at its best oversubscribed setting."""
    pairs: list[_Pair] = []
    for problem in found:
        full = _fastest(problem, lambda row: not row.oversubscribed)
        crowded = _fastest(problem, lambda row: row.oversubscribed)
        if full and crowded:
            pairs.append((problem, full, crowded))
    if not pairs:
        return None
    costs = [f"{_slowdown(full, row)} for {problem.name}" for problem, full, row in pairs if better(full, row)]
    same = [f"{problem.name} ({within((full, row))})" for problem, full, row in pairs if equal(full, row)]
    wins = [pair for pair in pairs if better(pair[2], pair[1])]
    words = [f"costs at least {enumerate_words(costs)}"] if costs else []
    words += [f"makes no difference to {enumerate_words(same)}"] if same else []
    most = max(row.processors for problem, _, _ in pairs for row in problem.hybrid.values() if row.oversubscribed)
    crowd = f"up to {most} threads on {plural(total, 'core')}"
    beside = f", compared with the best setting that has a core for every thread ({crowd})"
    text = ""
    if words:
        start = "Do not start more threads than cores: this" if costs else "More threads than cores bring nothing: this"
        start = "More threads than cores: this" if wins and not costs else start
        text = f"{start} {enumerate_words(words)}{beside}."
    text = " ".join(filter(None, [text, *(_win(*pair) for pair in wins)]))
    unknown = [pair for pair in pairs if untold(pair[1], pair[2])]
    text = f"{text} {_untold(unknown, f'the effect of more threads than cores (up to {most} on {total})')}".strip()
    idle = [row for _, _, row in pairs if row.working < row.threads]
    if idle:
        text += f" {_idle(idle)}"
    at_stake = stake(*((full, crowded) for _, full, crowded in pairs))
    return say("occupancy", HEADING, text, [row for _, full, crowded in pairs for row in (full, crowded)], at_stake)


def _win(problem: Problem, full: Row, row: Row) -> str:
    """An oversubscribed setting that was faster: a surprise that must be repeated before anyone relies on it."""
    figures = f"{amount(row)} against {amount(full)}"
    setting = problem.option((row.ranks, row.threads))
    if problem.best_hybrid and problem.best_hybrid[1] is row:
        name = problem.name[0].upper() + problem.name[1:]
        return f"{name} gains from them in run after run: {setting} was faster ({figures})."
    size = "clearly faster" if clearly_better(row, full) else "faster"
    return (
        f"{problem.program.title} was {size} with {setting} ({figures}). A single start does not prove that this is "
        f"repeatable. {again(problem.results, [problem.program.suite])}"
    )


def _idle(rows: list[Row]) -> str:
    """How many threads actually computed in rows with more threads than cores."""
    words = dict.fromkeys(
        f"{option((row.ranks, row.threads))} computes with {row.working} of its {row.threads} threads"
        + (" in each rank" if row.ranks > 1 else "")
        for row in rows
    )
    return f"Programs leave threads without a core idle: {enumerate_words(list(words))}."


def _untold(pairs: list[_Pair], what: str) -> str:
    if not pairs:
        return ""
    names = enumerate_words([problem.name for problem, _, _ in pairs])
    return (
        f"For {names} these samples do not show {what}. "
        f"{again(pairs[0][0].results, [problem.program.suite for problem, _, _ in pairs])}"
    )


def _slowdown(full: Row, crowded: Row) -> str:
    ratio = speed(full) / speed(crowded)
    return f"{factor(ratio)} times the time" if ratio >= 2 else percent(ratio - 1.0)
