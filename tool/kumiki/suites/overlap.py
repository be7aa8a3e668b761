"""How much of the communication is hidden by computation (F09: future work of the COMPaS paper)."""

from __future__ import annotations

from dataclasses import replace

from kumiki.suites.kernel import Workload
from kumiki.suites.model import Grid, Point, Program, Suite, with_mpi

BUDGETS = 2
"""Samples of whole runs as usual, then sets of a whole run, one without messages and one with messages only."""
RUNS = 2
"""Of a program for a sample, on average."""


def _laplace(quick: bool) -> Workload:
    """A grid that each of two ranks computes in about the time that a 100 Mbit/s link needs for its edge."""
    size, iterations = 1280, 50 if quick else 200
    return Workload(
        suite="overlap",
        program="laplace",
        metric="laplace.hidden",
        arguments=("--size", str(size), "--iterations", str(iterations), "--overlap", "--hidden"),
        parameters={"size": size, "iterations": iterations, "overlap": "yes"},
        one_core_seconds=RUNS * iterations * 0.001,
        in_messages=True,
    )


def _cg(quick: bool) -> Workload:
    size = "W" if quick else "A"
    return Workload(
        suite="overlap",
        program="cg",
        metric="cg.hidden",
        arguments=("--class", size, "--hidden"),
        parameters={"class": size},
        one_core_seconds=RUNS * {"W": 0.2, "A": 0.75}[size],
        in_messages=True,
    )


def _points(grid: Grid) -> list[Point]:
    assert grid.hosts is not None
    ranks = list(grid.ranks or (len(grid.hosts),))
    laplace = _laplace(grid.quick)
    points = [*laplace.message(grid, ranks), *laplace.mpi(grid, ranks), *_cg(grid.quick).message(grid, ranks)]
    return [replace(point, unit="%", better="higher", figures=BUDGETS) for point in points]


SUITE = Suite(
    name="overlap",
    title="Overlap",
    sentence="Programs whose messages travel while they compute: how much of the communication is hidden.",
    headline=("laplace.hidden", "cg.hidden"),
    programs=(*with_mpi("laplace"), Program("cg")),
    build=None,
    build_over_hosts=_points,
    seconds=60,
    quick_seconds=20,
    by_name=True,
)
