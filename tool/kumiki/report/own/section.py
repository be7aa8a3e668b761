"""The sections of the user's program: one for constant work, one for growing work."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import cores
from kumiki.report.figures.scaling import Law, scaling
from kumiki.report.own import laws, table
from kumiki.report.own.problem import SUITE, OwnProblem, asked, own_problems
from kumiki.report.page.exhibit import Exhibit, Section, numbered
from kumiki.report.quantity import amount, percent
from kumiki.report.sections.programs import efficiency_map, speedup_figure

_INTROS = {
    False: "The same work on any number of processors (strong scaling).",
    True: "Work that grows with the number of processors (weak scaling).",
}


def sections(results: Results) -> list[Section]:
    """A section for each scaling; if nothing was measured, one section that says what failed."""
    found = [_section(results, problem) for problem in own_problems(results)]
    return numbered(found or [Section.of(results, SUITE, "Your program", _command(results), iter(()))])


def _section(results: Results, problem: OwnProblem) -> Section:
    intro = f"{_command(results)} {_INTROS[problem.weak]}"
    made = Section.of(results, SUITE, problem.program.title, intro, _exhibits(results, problem))
    made.id = _prefix(problem)
    return made


def _prefix(problem: OwnProblem) -> str:
    return f"{SUITE}-growing" if problem.weak else SUITE


def _command(results: Results) -> str:
    """The command as it was given; the braces of placeholders need no quotes."""
    words = [word if _plain(word) else shlex.quote(word) for word in asked(results)["words"]]
    return f"`{' '.join(words)}`."


def _plain(word: str) -> bool:
    bare = word.replace("{", "").replace("}", "")
    return shlex.quote(bare) == bare


def _exhibits(results: Results, problem: OwnProblem) -> Iterator[Exhibit]:
    base = f"Base case: {problem.base_words}, {amount(problem.base)}." if problem.base else ""
    yield from _table(problem, base)
    if len(problem.hybrid) < 2:
        return
    total, fitted = cores(results), laws.fit(problem)
    drawn = [fitted] if fitted and 0 <= fitted.serial < 1 else []
    lines = [Law(f"{fit.name}'s law, {percent(fit.serial)} serial", fit.speedup) for fit in drawn]
    yield from speedup_figure(f"{_prefix(problem)}-speedup", problem, total, "", base, lines)
    picture = scaling(f"{_prefix(problem)}-efficiency", problem, "efficiency", total, lines)
    if picture:
        yield Exhibit(
            "Figure",
            f"{problem.program.title}: efficiency over processors",
            "Speed-up divided by the number of processors: the share of their time that does the work of the base "
            "case.",
            "100 % is ideal. Stop adding processors where the line falls below the efficiency that you accept.",
            base=base,
            picture=picture,
        )
    if all(len({setting[axis] for setting in problem.hybrid}) > 1 for axis in (0, 1)):
        yield from efficiency_map(f"{_prefix(problem)}-map", problem, base)


def _table(problem: OwnProblem, base: str) -> Iterator[Exhibit]:
    found = table.settings(problem)
    if found is None:
        return
    grown = " times the growth of the work" if problem.weak else ""
    law = "of Gustafson's law" if problem.weak else "after Karp and Flatt"
    yield Exhibit(
        "Table",
        f"{problem.program.title}: every setting",
        f"The figure of every setting, speed-up S = T₁ / Tₙ{grown}, efficiency P = S / n on n processors, and the "
        f"serial fraction {law} that would explain the speed-up.",
        "A serial fraction that stays constant with more processors indicates serial code; one that grows indicates "
        "communication, waiting, imbalance or a saturated memory bus. A negative one means more speed-up than the "
        "number "
        "of processors explains, usually because the pieces fit into caches.",
        base=base,
        table=found,
        wide=True,
    )
