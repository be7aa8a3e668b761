"""Platforms, and the problems that several of them solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from kumiki.report.analysis.compare import best
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS, Problem, problems
from kumiki.report.own.problem import OwnProblem, asked, own_problems
from kumiki.report.palette import Look
from kumiki.results.row import Row

_ROLES = ("kumiki", "openmpi", "openmp", "mpich", "central", "other-1", "std", "ucx", "other-2", "other-4")
_MARKERS = "osD^vPpX<>"


@dataclass(frozen=True)
class Platform:
    """One machine, cluster or setting: the results of one evaluation."""

    label: str
    results: Results


@dataclass(frozen=True)
class Entrant:
    """A platform in a contest."""

    platform: Platform
    problem: Problem

    @property
    def top(self) -> Row | None:
        """Its best time over all settings, including the sequential form."""
        parallel = [self.problem.fastest] if self.problem.fastest else []
        return best([*parallel, *([self.problem.sequential] if self.problem.sequential else [])])


@dataclass(frozen=True)
class Contest:
    """One problem that two or more platforms have solved."""

    id: str
    entrants: tuple[Entrant, ...]

    @property
    def problem(self) -> Problem:
        """The problem of the first platform; those of the others have the same size."""
        return self.entrants[0].problem

    @property
    def name(self) -> str:
        return self.problem.program.title

    @property
    def title(self) -> str:
        """The problem as the head of a line in a table."""
        return f"{self.name} ({self.detail})" if self.detail else self.name

    @property
    def detail(self) -> str:
        """Its size, or the command of the user's own program."""
        if isinstance(self.problem, OwnProblem):
            return " ".join(asked(self.problem.results)["words"])
        return self.problem.label


def contests(platforms: Sequence[Platform]) -> list[Contest]:
    """The problem of each program that most platforms have in common, and the user's own program."""
    found = []
    for program in PROGRAMS:
        solved: dict[object, list[Entrant]] = {}
        for platform in platforms:
            for problem in problems(platform.results, program):
                solved.setdefault((problem.size, problem.variant), []).append(Entrant(platform, problem))
        # The first of equals is the principal problem of the first platform.
        if solved:
            found.append(Contest(program.suite, max(map(tuple, solved.values()), key=len)))
    own: dict[object, list[Entrant]] = {}
    for platform in platforms:
        for problem in own_problems(platform.results):
            own.setdefault(_own_key(problem), []).append(Entrant(platform, problem))
    found += [Contest(f"command-{number}", tuple(entrants)) for number, entrants in enumerate(own.values(), 1)]
    return [contest for contest in found if len(contest.entrants) > 1]


def looks(platforms: Sequence[Platform]) -> dict[str, Look]:
    """A colour and marker for each platform, by its label."""
    count = len(_ROLES)
    return {
        platform.label: Look(_ROLES[place % count], _MARKERS[place % count], "solid" if place < count else "dashed")
        for place, platform in enumerate(platforms)
    }


def _own_key(problem: OwnProblem) -> object:
    """What makes the program and its figure the same; platforms may keep the program in different folders."""
    request = asked(problem.results)
    programs = [tuple(PurePath(word).name for word in request[name] or ()) for name in ("words", "sequential")]
    figure = tuple(sorted((request["metric"] or {}).items()))
    return *programs, figure, request["size"], request["power"], problem.weak
