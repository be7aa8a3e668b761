"""NPB's conjugate gradient."""

from __future__ import annotations

from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Suite, with_mpi

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

SUITE = Suite(
    name="cg",
    title="Conjugate gradient (NPB CG)",
    sentence="Sparse and irregular: latency of memory within a rank, reductions and transposes between ranks.",
    headline=("cg.time", "cg.rate"),
    programs=with_mpi("cg"),
    build=PROBLEMS.everywhere,
    build_over_hosts=PROBLEMS.over_hosts,
    seconds=38,
    quick_seconds=7,
)
