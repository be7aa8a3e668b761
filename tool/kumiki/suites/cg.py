"""NPB's conjugate gradient."""

from __future__ import annotations

from dataclasses import replace

from kumiki.suites import bound
from kumiki.suites.described import Described, Paper
from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Grid, Point, Suite, with_mpi

ONE_CORE_SECONDS = {"W": 0.2, "A": 0.75}
NONZEROS = {"W": 508402, "A": 1853104}
"""Of the matrix."""
BYTES_A_NONZERO = 10
"""A number and its column, which needs 16 bits in these classes."""
MILLION_OPERATIONS = {"W": 420.63, "A": 1496.46}
"""Of a run, as NPB counts them."""
PRODUCTS = 15 * 26
"""Of matrix and vector in a run."""


def _workload(size: str) -> Workload:
    return Workload(
        suite="cg",
        program="cg",
        metric="cg.time",
        arguments=("--class", size),
        parameters={"class": size},
        one_core_seconds=ONE_CORE_SECONDS[size],
        # A product reads the matrix; the vectors are small in comparison and stay in the caches.
        traffic=bound.Traffic(
            work=MILLION_OPERATIONS[size] / PRODUCTS, unit="Mop/s", read=BYTES_A_NONZERO * NONZEROS[size]
        ),
    )


PROBLEMS = Problems(_workload("W"), _workload("A"))


def _over_hosts(grid: Grid) -> list[Point]:
    """Between hosts also with messages, which overlap with the product."""
    problems = Problems(replace(PROBLEMS.quick, in_messages=True), replace(PROBLEMS.usual, in_messages=True))
    return [*problems.over_hosts(grid), *problems.usual.over_few_hosts(grid)]


SUITE = Suite(
    name="cg",
    title="Conjugate gradient (NPB CG)",
    sentence="Sparse and irregular: memory latency within a rank, reductions and transposes between ranks.",
    headline=("cg.time", "cg.rate", "cg.bound"),
    programs=(*with_mpi("cg"), bound.PROGRAM),
    build=PROBLEMS.everywhere,
    build_over_hosts=_over_hosts,
    seconds=60,
    quick_seconds=11,
    described=Described(
        "Conjugate gradient",
        "NPB's conjugate gradient: a sparse matrix, irregular reads, reductions between ranks.",
        ("class", "A"),
        Paper(
            speedup="Figure 12",
            breakdown="Figure 13",
            over_hosts="Figure 7",
            over_hosts_result="In the paper the time falls with every PC over Maestro; over Ethernet 8 PCs take longer "
            "than 4.",
        ),
        parts=("product", "vectors", "exchange", "sums"),
    ),
)
