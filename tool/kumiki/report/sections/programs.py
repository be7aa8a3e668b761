"""The papers' programs: time, speed-up, efficiency, and where the time goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kumiki.report import tables
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import Problem, Program, cores, principal
from kumiki.report.figures.breakdown import WORDS, breakdown
from kumiki.report.figures.canvas import Picture
from kumiki.report.figures.heatmap import efficiency
from kumiki.report.figures.scaling import Law, scaling
from kumiki.report.page.exhibit import Exhibit, Section
from kumiki.report.quantity import amount, enumerate_words
from kumiki.report.sections.compas import master_only, sort_messages
from kumiki.report.sections.hosts import over_hosts
from kumiki.report.sections.meshes import meshes
from kumiki.report.sections.velocities import velocities


def program_section(results: Results, program: Program) -> Section:
    problem = principal(results, program)
    exhibits = _exhibits(results, problem) if problem and problem.rows else iter(())
    intro = program.described.intro
    if problem and problem.label:
        intro += f" Here: {problem.label}."
    cited = (replace(exhibit, source=program.paper.source) for exhibit in exhibits)
    return Section.of(results, program.suite, program.title, intro, cited)


def _exhibits(results: Results, problem: Problem) -> Iterator[Exhibit]:
    program, total = problem.program, cores(results)
    prefix, paper = program.suite, program.paper
    base = f"Base case: {problem.base_words}, {amount(problem.base)}." if problem.base else "No base case was measured."
    bounded = bool(problem.bounds)
    by_rate = program.described.by_rate or bool(paper.rate)
    picture = scaling(f"{prefix}-{'rate' if by_rate else 'time'}", problem, "rate" if by_rate else "time", total)
    if picture:
        yield (_rate_figure(problem, picture, bounded) if by_rate else _time_figure(problem, picture, base, bounded))
    yield from speedup_figure(f"{prefix}-speedup", problem, total, paper.speedup, base)
    yield from efficiency_map(f"{prefix}-efficiency", problem, base, paper.efficiency)
    yield from over_hosts(problem)
    yield from sort_messages(problem)
    picture = breakdown(f"{prefix}-parts", problem)
    if picture:
        yield Exhibit(
            "Figure",
            f"{problem.program.title}: where the time goes",
            f"{_part_words(problem)} of each setting (ranks × threads) and peer; each part is the maximum over the "
            "ranks.",
            "Computation should shrink with more processors; the parts that do not shrink limit the program.",
            paper.breakdown,
            picture=picture,
        )
    yield from master_only(results, program)
    if program.by_name:
        yield from meshes(results, program)
    yield from velocities(results, program)
    yield from _tables(results, problem, base)


def _part_words(problem: Problem) -> str:
    words = enumerate_words([WORDS.get(name, name) for name in problem.part_names])
    return words[0].upper() + words[1:]


def speedup_figure(
    name: str, problem: Problem, total: int | None, paper: str, base: str, laws: Sequence[Law] = ()
) -> Iterator[Exhibit]:
    """Speed-up over processors, if there is a base case, with the laws that were fitted to it."""
    picture = scaling(name, problem, "speedup", total, laws)
    if picture:
        yield Exhibit(
            "Figure",
            f"{problem.program.title}: speed-up over processors",
            "How many times as fast as the base case, by total processors.",
            "Higher is better.",
            paper,
            base,
            picture,
            lead=True,
        )


def efficiency_map(name: str, problem: Problem, base: str, paper: str = "") -> Iterator[Exhibit]:
    """Efficiency over ranks and threads, if there is a base case and more than one setting."""
    picture = efficiency(name, problem)
    if picture:
        yield Exhibit(
            "Figure",
            f"{problem.program.title}: efficiency over ranks × threads",
            "Speed-up divided by the number of processors used (ranks × threads).",
            "100 % is ideal; a stronger colour is better.",
            paper,
            base,
            picture,
        )


def _rate_figure(problem: Problem, picture: Picture, bounded: bool) -> Exhibit:
    return Exhibit(
        "Figure",
        f"{problem.program.title}: rate over processors{', with the bound' if bounded else ''}",
        "Operations per second by total processors.",
        "Higher is better.",
        problem.program.paper.rate,
        picture=picture,
    )


def _time_figure(problem: Problem, picture: Picture, base: str, bounded: bool) -> Exhibit:
    return Exhibit(
        "Figure",
        f"{problem.program.title}: time over processors{', with the bound' if bounded else ''}",
        "Execution time by total processors, logarithmic.",
        "Lower is better.",
        problem.program.paper.time,
        base,
        picture,
    )


def _tables(results: Results, problem: Problem, base: str) -> Iterator[Exhibit]:
    table = tables.settings(problem)
    if table:
        bound = f" “Of bound” compares with {problem.program.bound.what}." if problem.bounds else ""
        yield Exhibit(
            "Table",
            f"{problem.program.title}: every setting",
            "Time, speed-up and efficiency of every setting (ranks × threads) and of the peers; “shared time” is the "
            f"share of communication and synchronisation.{bound}",
            "The fastest median is in bold.",
            problem.program.paper.settings,
            base,
            table=table,
            wide=True,
        )
    others = tables.other_problems(results, problem)
    if others:
        yield Exhibit(
            "Table",
            f"{problem.program.title}: other problems",
            "The other sizes and variants that were measured, each with its base case and its best settings.",
            "Compare the speed-ups: a larger problem has more computation between communications.",
            table=others,
            wide=True,
        )
