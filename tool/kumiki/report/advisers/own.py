"""What the runs of the user's program say: whether and how to run it in parallel, and what limits it (F66 to F68)."""

from __future__ import annotations

from kumiki.report.advisers import occupancy, program
from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.analysis.compare import against
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import cores
from kumiki.report.own import laws
from kumiki.report.own.problem import OwnProblem, own_problems
from kumiki.report.quantity import amount, factor, percent, plural
from kumiki.results.statistics import FEWEST_SAMPLES

KIND = "own"
CLOSE = 0.1
"""A serial share whose interval is wider than this foresees nothing."""
FITS = 0.1
"""A law that is further off than this does not describe the program."""
STEADY = 0.01
"""Serial fractions that differ by less than this make no difference to a reader."""


def advise(results: Results) -> list[Advice]:
    total = cores(results)
    pieces: list[Advice] = []
    for problem in own_problems(results):
        if not problem.weak:
            pieces += [*program.of_problem(problem), *_overhead(problem)]
            pieces += occupancy.of_problems([problem], total) if total else []
        pieces += [piece for piece in (_law(problem, total), _trend(problem)) if piece]
    return pieces


def _overhead(problem: OwnProblem) -> list[Advice]:
    """What it costs to be parallel at all: the program on one processor beside its sequential form."""
    one, sequential = problem.hybrid.get((1, 1)), problem.sequential
    if one is None or sequential is None:
        return []
    relation = against(one, sequential, "the sequential form")
    text = f"On one processor {problem.name} is {relation}: {amount(one)} and {amount(sequential)}."
    return [say(KIND, problem.program.title, text, [one, sequential])]


def _law(problem: OwnProblem, total: int | None) -> Advice | None:
    """What the law foresees where it fits, and that it does not where it does not."""
    fit = laws.fit(problem)
    if fit is None or problem.base is None or fit.serial >= 1:  # slower than one processor: other advice says so
        return None
    rows = [problem.base, *fit.rows]
    name = f"{fit.name}'s law"
    if fit.low is None:
        text = (
            f"{plural(min(row.n for row in rows), 'run')} of each setting tell no interval of the serial share, and so "
            f"{name} foresees nothing: `--repeat {FEWEST_SAMPLES}` or more runs would."
        )
        return say(KIND, problem.program.title, text, rows)
    share = f"a serial share of {percent(fit.serial)}{_interval(fit)}"
    if fit.misfit > FITS:
        text = (
            f"{name} does not describe {problem.name}: with {share} it is still off by {percent(fit.misfit)}. Trust "
            "the settings that were measured, and no figure beyond them."
        )
        return say(KIND, problem.program.title, text, rows)
    if len(fit.rows) == 1:
        start = f"On {plural(fit.rows[0].processors, 'processor')} alone {name} has {share}"
    else:
        start = f"{name} with {share} meets what was measured within {percent(fit.misfit)}"
    return say(KIND, problem.program.title, f"{start}{_foreseen(problem, fit, total)}.", rows)


def _interval(fit: laws.Fit) -> str:
    if fit.low is None or fit.high is None:
        return ""
    return f" (95 %: {percent(fit.low)} to {percent(fit.high)})"


def _foreseen(problem: OwnProblem, fit: laws.Fit, total: int | None) -> str:
    """What twice the cores would bring, and the bound of all machines."""
    if fit.serial < 0 and (fit.high is None or fit.high < 0):
        return "; less than none: the pieces get faster as they get smaller, and how far that goes the law cannot tell"
    if fit.serial < 0:
        return ", which is none as far as these runs tell"
    if fit.low is not None and fit.high is not None and fit.high - fit.low > CLOSE:
        return "; these runs tell it too roughly to foresee more: more of them would tell"
    most = max(total or 1, *(row.processors for row in fit.rows))
    words = f"; on {2 * most} processors it foresees {factor(fit.speedup(2 * most))} times the speed of one"
    if fit.name == "Gustafson":
        return f"{words}, with {2 * most} times the work" if problem.weak else words
    if fit.limit is None or (fit.low is not None and fit.low <= 0):
        return f"{words}; no serial share shows that would bound it"
    return f"{words}, on any number at most {factor(fit.limit)}"


def _trend(problem: OwnProblem) -> Advice | None:
    """Whether serial code or what grows with the processors limits the program."""
    trend = laws.trend(problem)
    if trend is None or trend.direction is None:
        return None
    first, last = (plural(row.processors, "processor") for row in (trend.first, trend.last))
    figures = f"{percent(trend.before)} on {first}, {percent(trend.after)} on {last}"
    if trend.direction == 0 or abs(trend.after - trend.before) < STEADY:
        if not trend.steady:
            return None
        text = (
            f"The serial fraction stays where it is with more processors ({figures}): what limits is the same for all."
        )
    elif trend.direction > 0:
        text = (
            f"The serial fraction grows with the processors ({figures}): what they share limits the program "
            "(communication, waiting, imbalance, the memory bus), rather than code that one of them runs alone."
        )
    else:
        text = (
            f"The serial fraction falls with the processors ({figures}): each of them works better on its smaller "
            "piece, mostly since it fits into caches."
        )
    return say(KIND, problem.program.title, text, [problem.base, trend.first, trend.last])
