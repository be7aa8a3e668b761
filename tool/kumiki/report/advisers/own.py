"""Advice on the user's program: whether and how to run it in parallel, and what limits it (F66 to F68)."""

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
"""A serial share whose interval is wider than this allows no prediction."""
FITS = 0.1
"""A law that deviates by more than this does not describe the program."""
STEADY = 0.01
"""Serial fractions that differ by less than this are the same to a reader."""


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
    """The cost of being parallel at all: the program on one processor, compared with its sequential form."""
    one, sequential = problem.hybrid.get((1, 1)), problem.sequential
    if one is None or sequential is None:
        return []
    relation = against(one, sequential, "the sequential form")
    text = f"On one processor {problem.name} is {relation}: {amount(one)} and {amount(sequential)}."
    return [say(KIND, problem.program.title, text, [one, sequential])]


def _law(problem: OwnProblem, total: int | None) -> Advice | None:
    """The prediction of the law if it fits; otherwise the statement that it does not."""
    fit = laws.fit(problem)
    if fit is None or problem.base is None or fit.serial >= 1:  # slower than one processor: other advice says so
        return None
    rows = [problem.base, *fit.rows]
    name = f"{fit.name}'s law"
    if fit.low is None:
        text = (
            f"{plural(min(row.n for row in rows), 'run')} of each setting are too few for an interval of the serial "
            "share, "
            f"so {name} predicts nothing: measure with `--repeat {FEWEST_SAMPLES}` or more."
        )
        return say(KIND, problem.program.title, text, rows)
    share = f"a serial share of {percent(fit.serial)}{_interval(fit)}"
    if fit.misfit > FITS:
        text = (
            f"{name} does not describe {problem.name}: even with {share} it deviates by {percent(fit.misfit)}. Trust "
            "the "
            "measured settings only, and no prediction beyond them."
        )
        return say(KIND, problem.program.title, text, rows)
    if len(fit.rows) == 1:
        start = f"From {plural(fit.rows[0].processors, 'processor')} alone, {name} has {share}"
    else:
        start = f"{name} with {share} matches the measurements within {percent(fit.misfit)}"
    return say(KIND, problem.program.title, f"{start}{_foreseen(problem, fit, total)}.", rows)


def _interval(fit: laws.Fit) -> str:
    if fit.low is None or fit.high is None:
        return ""
    return f" (95 %: {percent(fit.low)} to {percent(fit.high)})"


def _foreseen(problem: OwnProblem, fit: laws.Fit, total: int | None) -> str:
    """What twice as many cores would bring, and the limit on any number of processors."""
    if fit.serial < 0 and (fit.high is None or fit.high < 0):
        return "; a negative share means that smaller pieces run faster, and the law cannot predict how far this goes"
    if fit.serial < 0:
        return ", which is indistinguishable from zero in these runs"
    if fit.low is not None and fit.high is not None and fit.high - fit.low > CLOSE:
        return "; these runs determine it too roughly for a prediction: use more runs"
    most = max(total or 1, *(row.processors for row in fit.rows))
    words = f"; on {2 * most} processors it predicts {factor(fit.speedup(2 * most))} times the speed of one"
    if fit.name == "Gustafson":
        return f"{words}, with {2 * most} times the work" if problem.weak else words
    if fit.limit is None or (fit.low is not None and fit.low <= 0):
        return f"{words}; the runs show no serial share that would limit it"
    return f"{words}, and at most {factor(fit.limit)} times on any number"


def _trend(problem: OwnProblem) -> Advice | None:
    """Whether serial code limits the program, or overheads that grow with the number of processors."""
    trend = laws.trend(problem)
    if trend is None or trend.direction is None:
        return None
    first, last = (plural(row.processors, "processor") for row in (trend.first, trend.last))
    figures = f"{percent(trend.before)} on {first}, {percent(trend.after)} on {last}"
    if trend.direction == 0 or abs(trend.after - trend.before) < STEADY:
        if not trend.steady:
            return None
        text = f"The serial fraction stays constant with more processors ({figures}): the limit is the same for all."
    elif trend.direction > 0:
        text = (
            f"The serial fraction grows with the number of processors ({figures}): communication, waiting, imbalance "
            "or "
            "the memory bus limits the program, rather than code that runs on one processor only."
        )
    else:
        text = (
            f"The serial fraction falls with the number of processors ({figures}): each processor is more efficient on "
            "its smaller piece, usually because the piece fits into caches."
        )
    return say(KIND, problem.program.title, text, [problem.base, trend.first, trend.last])
