"""The sizes that a program was measured at, as series (after Figures 7 to 33 of the JAMSTEC paper)."""

from __future__ import annotations

from dataclasses import dataclass

from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import Parameters, Problem, Program, in_order, problems
from kumiki.results.row import Row

SENDRECV = "sendrecv"
"""The form of the paper's own programs: edges by MPI_Sendrecv only."""


@dataclass(frozen=True)
class Mesh:
    """One line: a problem, and its row at each number of processors."""

    problem: Problem
    rows: list[tuple[int, Row]]


@dataclass(frozen=True)
class Family:
    """Problems that one figure shows side by side."""

    variant: Parameters
    """What they have in common besides the program: how diffusion's lines are solved."""
    meshes: list[Mesh]

    @property
    def words(self) -> str:
        return ", ".join(str(value).replace("-", " ") for _, value in self.variant)


def families(results: Results, program: Program) -> list[Family]:
    """The best of Kumiki's settings by processors: a family for each variant with two measured sizes.

    If a program has a single size (pi), the variants form the family.
    """
    found = [problem for problem in problems(results, program) if not _cut_otherwise(problem)]
    meshes = [mesh for problem in reversed(found) if len((mesh := Mesh(problem, _best(problem))).rows) > 1]
    if len({mesh.problem.size for mesh in meshes}) < 2:
        return [Family((), meshes)] if len(meshes) > 1 else []
    grouped: dict[Parameters, list[Mesh]] = {}
    for mesh in meshes:
        grouped.setdefault(mesh.problem.variant, []).append(mesh)
    return [Family(variant, group) for variant, group in sorted(grouped.items()) if len(group) > 1]


def by_sendrecv(results: Results, program: Program) -> dict[str, list[Mesh]]:
    """The paper's own form by processes, for each MPI: all sizes that were measured."""
    found: dict[str, list[Mesh]] = {}
    for problem in reversed(problems(results, program)):
        rows = problem.form(SENDRECV)
        for name in in_order((row.implementation for row in rows), results.mpis):
            own = sorted((row.ranks, row) for row in rows if row.implementation == name)
            found.setdefault(name, []).append(Mesh(problem, own))
    return found


def _cut_otherwise(problem: Problem) -> bool:
    """Whether its grid was cut in both directions: the default cut represents the size."""
    return "split" in dict(problem.variant)


def _best(problem: Problem) -> list[tuple[int, Row]]:
    more = [(row.processors, row) for row in problem.best_by_processors() if row.processors > 1]
    return [(1, problem.base), *more] if problem.base else more
