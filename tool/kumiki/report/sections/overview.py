"""The one figure of the first screen: the programs at their best, or the most informative figure of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kumiki.report.advisers.memory import by_threads, saturates
from kumiki.report.analysis.compare import best
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.peers import best_mpi, best_openmp
from kumiki.report.analysis.select import PROGRAMS, Problem, cores, principal, setting_words
from kumiki.report.analysis.uncertainty import speedup_ends
from kumiki.report.figures.canvas import Picture, Sheet, again
from kumiki.report.figures.overview import Line, Mark, by_line
from kumiki.report.own.problem import SUITE as OWN
from kumiki.report.page.exhibit import Exhibit, Section
from kumiki.report.palette import Look, looks
from kumiki.report.quantity import factor, plural
from kumiki.results.row import Row

NAME = "overview"
FARTHEST = 1.5
"""A bound beyond this many times the best speed-up, or the ideal, would leave the programs no space in the figure."""
_PROGRAMS = {OWN, *(program.suite for program in PROGRAMS)}


def overview(results: Results, sections: Sequence[Section]) -> Exhibit | None:
    """The programs side by side if there are several, else the leading figure of a section, programs first."""
    found = [problem for program in PROGRAMS if (problem := principal(results, program)) and _speedup(problem)]
    if len(found) > 1:
        return _programs(results, found)
    return leading(sorted(sections, key=lambda section: section.id not in _PROGRAMS))


def leading(sections: Sequence[Section]) -> Exhibit | None:
    """The leading figure of the first section that has one, to be shown a second time at the top of the page."""
    figures = [exhibit for section in sections for exhibit in section.exhibits if exhibit.picture]
    # A wide figure would be too small to read there.
    chosen = next(iter(sorted(figures, key=lambda exhibit: (not exhibit.lead, exhibit.wide))), None)
    if chosen is None or chosen.picture is None:
        return None
    return replace(chosen, picture=again(chosen.picture, NAME), number=0, wide=False)


def _programs(results: Results, found: Sequence[Problem]) -> Exhibit:
    total = _processors(results, found)
    return Exhibit(
        "Figure",
        "The programs at their best settings",
        "How many times as fast as its base case (the sequential form, or one rank with one thread) each program runs "
        "at the best setting measured (ranks × threads), and the best of its peers.",
        "Further right is better.",
        picture=_picture(results, found, total),
    )


def _picture(results: Results, found: Sequence[Problem], total: int) -> Picture:
    lines = [Line(_head(problem), list(_marks(results, problem))) for problem in found]
    farthest = FARTHEST * max([total, *(mark.high for line in lines for mark in line.marks if not mark.bound)])
    shown = [replace(line, marks=[m for m in line.marks if not m.bound or m.middle <= farthest]) for line in lines]

    def refer(sheet: Sheet) -> None:
        ideal = Look("muted", dash="dashed")
        sheet.axes.axvline(total, color=ideal.colour, linestyle=ideal.dash, linewidth=1.0, zorder=1)
        sheet.key("ideal", ideal, marker=False)
        sheet.note(f"The dashed line is the ideal on {plural(total, 'processor')}.")
        bus = by_threads(results, "copy")
        top = best(bus.values())
        if top and 1 in bus and saturates(bus):
            bound = Look("bound", dash="dotted")
            sheet.axes.axvline(
                top.value / bus[1].value, color=bound.colour, linestyle=bound.dash, linewidth=1.4, zorder=1
            )
            sheet.key("bound: memory bus", bound, marker=False)
            sheet.note(
                "The dotted line is the speed-up of the memory bus with threads: a bound for programs whose data do "
                "not "
                "fit into the caches."
            )

        if shown != lines:
            sheet.note("A bound far beyond the programs is not drawn here but in the program's own figures.")

    description = "speed-up of each program at its best setting, beside its peers, the ideal and the bounds"
    return by_line(NAME, description, "speed-up over the base case", shown, lambda value: f"{value:g}×", refer)


def _marks(results: Results, problem: Problem) -> Iterator[Mark]:
    """The bound, the peers, and the program itself on top of them."""
    known = looks(row.implementation for row in results.rows)
    if bound := _bound(problem):
        yield bound
    for row in filter(None, (best_mpi(problem), best_openmp(problem))):
        if mark := _of(problem, row, row.title, known[row.implementation]):
            yield mark
    if problem.best_hybrid and (mark := _of(problem, problem.best_hybrid[1], "Kumiki", known["kumiki"])):
        yield mark


def _head(problem: Problem) -> str:
    """The program, its speed-up and its best setting."""
    gain = _speedup(problem)
    at = f"\n{factor(gain)}× at {setting_words(problem.best_hybrid[0])}" if gain and problem.best_hybrid else ""
    return problem.program.title + at


def _of(problem: Problem, row: Row, text: str, look: Look) -> Mark | None:
    gain, ends = problem.speedup(row), speedup_ends(problem, row)
    return Mark(text, look, row, gain, *ends) if gain is not None and ends else None


def _bound(problem: Problem) -> Mark | None:
    """The highest rate that bounds it, as a speed-up over the base case."""
    base = problem.rate(problem.base) if problem.base else None
    top = best(problem.bounds.values())
    if top is None or base is None:
        return None
    gain = top.value / base.value
    return Mark(f"bound: {problem.program.bound.name}", Look("bound"), top, gain, gain, gain, bound=True)


def _speedup(problem: Problem) -> float | None:
    return problem.speedup(problem.best_hybrid[1]) if problem.best_hybrid else None


def _processors(results: Results, found: Sequence[Problem]) -> int:
    """The cores of the machine; over hosts, the most that any setting used with a core for each thread."""
    used = [row.processors for problem in found for row in problem.hybrid.values() if not row.oversubscribed]
    return max([cores(results) or 1, *used])
