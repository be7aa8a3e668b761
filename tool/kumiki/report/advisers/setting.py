"""One setting of ranks x threads for all programs, if they agree on one."""

from __future__ import annotations

import math

from kumiki.report.advisers.again import again
from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.advisers.program import is_parallel, parallel_pays
from kumiki.report.analysis.compare import better, equal, speed, untold, within
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS, Problem, Setting, command, option, principal
from kumiki.report.quantity import enumerate_words, percent
from kumiki.results.row import Row

HEADING = "The setting to use"


def advise(results: Results) -> list[Advice]:
    found = [problem for program in PROGRAMS if (problem := principal(results, program)) and problem.hybrid]
    if found and not any(is_parallel(problem) for problem in found):
        text = "No program ran on several cores with a core for each thread, so there is no setting to choose."
        return [say("setting", HEADING, text, [problem.fastest for problem in found])]
    pays = {problem.program.suite: parallel_pays(problem) for problem in found}
    gaining, alone, unknown = (
        [problem for problem in found if pays[problem.program.suite] is verdict] for verdict in (True, False, None)
    )
    if not found:
        return []
    if unknown and not gaining:
        return [_unknown(results, unknown, alone)]
    if not gaining:
        return [_stay_sequential(alone)]
    common = set.intersection(*(set(problem.fitting) for problem in gaining))
    if len(common) < 2:
        return []
    chosen = min(common, key=lambda s: (_mean_loss(gaining, s), s[0] * s[1], s[0]))
    near = [problem for problem in gaining if _rivals(problem, chosen)]
    text = _recommendation(gaining, near, chosen) + _alternatives(gaining, common, chosen)
    text += _exceptions(alone) + _undecided(results, near, chosen, unknown)
    rows: list[Row | None] = [problem.hybrid[chosen] for problem in gaining]
    rows += [row for problem in [*alone, *unknown] for row in (problem.base, problem.fastest)]
    return [say("setting", HEADING, text, rows)]


def _rivals(problem: Problem, chosen: Setting) -> list[Setting]:
    """The settings that may be better than the chosen one, according to these samples."""
    row = problem.hybrid[chosen]
    return [setting for setting, peer in problem.fitting.items() if peer is not row and untold(peer, row)]


def _recommendation(found: list[Problem], near: list[Problem], chosen: Setting) -> str:
    run = command(chosen, found[0].results)
    shown = [problem for problem in found if problem not in near]
    losers = [problem for problem in shown if better(_top(problem), problem.hybrid[chosen])]
    if not shown:
        return f"These samples do not show which setting suits all programs; {run} merely has the best medians."
    if not losers:
        scope = f"it is the fastest measured setting, or equal to it, for {_names(shown)}"
    else:
        worst = max(losers, key=lambda problem: _loss(problem, chosen))
        scope = (
            f"no single setting is the fastest for all of {_names(found)}, and this one loses the least: "
            f"at worst {percent(_loss(worst, chosen) - 1.0)}, for {worst.program.title}"
        )
    return f"If you want one setting for all programs, use {run}: {scope}."


def _alternatives(found: list[Problem], common: set[Setting], chosen: Setting) -> str:
    same = [
        setting
        for setting in sorted(common - {chosen})
        if all(equal(problem.hybrid[setting], problem.hybrid[chosen]) for problem in found)
    ]
    if not same:
        return ""
    words = [f"{option(s)} {within(*((p.hybrid[s], p.hybrid[chosen]) for p in found))}" for s in same]
    return f" Equal to it for all of them: {enumerate_words(words)}."


def _exceptions(alone: list[Problem]) -> str:
    return f" Run {enumerate_words([problem.title for problem in alone])} sequentially." if alone else ""


def _undecided(results: Results, near: list[Problem], chosen: Setting, unknown: list[Problem]) -> str:
    """The programs for which these samples do not show whether this setting, or any other, is the best."""
    text = ""
    if near:
        names = enumerate_words(
            [f"{p.program.title} ({enumerate_words([option(s) for s in _rivals(p, chosen)])})" for p in near]
        )
        text += f" These samples do not distinguish it from other settings for {names}."
    if unknown:
        text += f" For {_names(unknown)} they do not show whether any setting is faster than the base case."
    suites = [problem.program.suite for problem in (*near, *unknown)]
    return f"{text} {again(results, suites)}" if text else ""


def _unknown(results: Results, unknown: list[Problem], alone: list[Problem]) -> Advice:
    text = (
        f"These samples do not show which setting to use: for {_names(unknown)} they do not distinguish any parallel "
        f"setting from the base case.{_exceptions(alone)} {again(results, [p.program.suite for p in unknown])}"
    )
    return say("setting", HEADING, text, [row for p in [*unknown, *alone] for row in (p.base, p.fastest)])


def _stay_sequential(found: list[Problem]) -> Advice:
    rows = [row for problem in found for row in (problem.base, problem.fastest)]
    text = f"Run the programs sequentially: no parallel setting measured here is faster for {_names(found)}."
    return say("setting", HEADING, text, rows)


def _names(found: list[Problem]) -> str:
    return enumerate_words([problem.program.title for problem in found])


def _top(problem: Problem) -> Row:
    if problem.fastest is None:
        raise ValueError(f"{problem.title} has no hybrid row")
    return problem.fastest


def _loss(problem: Problem, setting: Setting) -> float:
    """How many times as long the setting takes as the program's own best; 1 where the two are equal."""
    row, top = problem.hybrid[setting], _top(problem)
    return 1.0 if row is top or equal(row, top) else speed(top) / speed(row)


def _mean_loss(found: list[Problem], setting: Setting) -> float:
    return math.exp(sum(math.log(_loss(problem, setting)) for problem in found) / len(found))
