"""NPB's conjugate gradient."""

from __future__ import annotations

from dataclasses import replace

from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Grid, Point, Suite, with_mpi

ONE_CORE_SECONDS = {"W": 0.2, "A": 0.75}


def _workload(size: str) -> Workload:
    return Workload(
        suite="cg",
        program="cg",
        metric="cg.time",
        arguments=("--class", size),
        parameters={"class": size},
        one_core_seconds=ONE_CORE_SECONDS[size],
    )


PROBLEMS = Problems(_workload("W"), _workload("A"))


def _over_hosts(grid: Grid) -> list[Point]:
    """Between hosts also in messages, which hide behind the product."""
    problems = Problems(replace(PROBLEMS.quick, in_messages=True), replace(PROBLEMS.usual, in_messages=True))
    return [*problems.over_hosts(grid), *problems.usual.over_few_hosts(grid)]


SUITE = Suite(
    name="cg",
    title="Conjugate gradient (NPB CG)",
    sentence="Sparse and irregular: latency of memory within a rank, reductions and transposes between ranks.",
    headline=("cg.time", "cg.rate"),
    programs=with_mpi("cg"),
    build=PROBLEMS.everywhere,
    build_over_hosts=_over_hosts,
    seconds=60,
    quick_seconds=7,
)
