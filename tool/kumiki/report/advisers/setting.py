"""One setting of ranks x threads for everything, where the programs agree on one."""

from __future__ import annotations

import math

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.compare import better, equal
from kumiki.report.model import Results, Row
from kumiki.report.quantity import enumerate_words, percent
from kumiki.report.select import PROGRAMS, Problem, Setting, command, option, principal

HEADING = "The setting to use"


def advise(results: Results) -> list[Advice]:
    found = [problem for program in PROGRAMS if (problem := principal(results, program)) and problem.hybrid]
    if not found:
        return []
    if all(_sequential_suffices(problem) for problem in found):
        return [_stay_sequential(found)]
    alone = [problem for problem in found if _sequential_suffices(problem)]
    found = [problem for problem in found if problem not in alone]
    common = set.intersection(*(set(problem.hybrid) for problem in found))
    if len(common) < 2:
        return []
    chosen = min(common, key=lambda s: (_mean_loss(found, s), s[0] * s[1], s[0]))
    rows: list[Row | None] = [problem.hybrid[chosen] for problem in found]
    rows += [row for problem in alone for row in (problem.sequential, _best(problem))]
    text = _recommendation(found, chosen) + _alternatives(found, common, chosen) + _exceptions(alone)
    return [say("setting", HEADING, text, rows)]


def _recommendation(found: list[Problem], chosen: Setting) -> str:
    names = enumerate_words([problem.program.title for problem in found])
    losers = [problem for problem in found if better(_best(problem), problem.hybrid[chosen])]
    if not losers:
        scope = f"it is the fastest measured setting, or equal to it, for {names}"
    else:
        worst = max(losers, key=lambda problem: _loss(problem, chosen))
        scope = (
            f"no one setting is the fastest for all of {names}, and this one loses the least: "
            f"at worst {percent(_loss(worst, chosen) - 1.0)}, in {worst.program.title}"
        )
    return f"If one setting is to serve all programs, use {command(chosen, found[0].results)}: {scope}."


def _alternatives(found: list[Problem], common: set[Setting], chosen: Setting) -> str:
    same = [
        setting
        for setting in sorted(common - {chosen})
        if all(equal(problem.hybrid[setting], problem.hybrid[chosen]) for problem in found)
    ]
    if not same:
        return ""
    verb = "is" if len(same) == 1 else "are"
    return f" {enumerate_words([option(s) for s in same])} {verb} equal to it within the confidence intervals."


def _exceptions(alone: list[Problem]) -> str:
    return f" Leave {enumerate_words([problem.title for problem in alone])} sequential." if alone else ""


def _stay_sequential(found: list[Problem]) -> Advice:
    rows: list[Row | None] = []
    for problem in found:
        rows += [problem.sequential, _best(problem)]
    names = enumerate_words([problem.title for problem in found])
    text = f"Run the programs sequentially: no parallel setting measured here is faster for {names}."
    return say("setting", HEADING, text, rows)


def _sequential_suffices(problem: Problem) -> bool:
    return problem.sequential is not None and not better(_best(problem), problem.sequential)


def _best(problem: Problem) -> Row:
    found = problem.best_hybrid
    if found is None:
        raise ValueError(f"{problem.title} has no hybrid row")
    return found[1]


def _loss(problem: Problem, setting: Setting) -> float:
    """How many times as long the setting takes as the program's own best; 1 where the two cannot be told apart."""
    row, top = problem.hybrid[setting], _best(problem)
    return 1.0 if equal(row, top) else row.value / top.value


def _mean_loss(found: list[Problem], setting: Setting) -> float:
    return math.exp(sum(math.log(_loss(problem, setting)) for problem in found) / len(found))
