"""LU factorisation of a dense matrix of blocks."""

from __future__ import annotations

from kumiki.suites.described import SCASH, Described, Paper
from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Suite, with_mpi

SIZE, QUICK_SIZE, LARGE_SIZE = 1024, 512, 2048
BLOCK = 32
ONE_CORE_FLOPS = 40e9


def _workload(size: int) -> Workload:
    return Workload(
        suite="lu",
        program="lu",
        metric="lu.time",
        arguments=("--size", str(size), "--block", str(BLOCK)),
        parameters={"size": size, "block": BLOCK},
        one_core_seconds=2 / 3 * size**3 / ONE_CORE_FLOPS,
        setup_seconds=0.1,
        in_messages=True,
    )


PROBLEMS = Problems(_workload(QUICK_SIZE), _workload(SIZE), [_workload(QUICK_SIZE), _workload(LARGE_SIZE)])

SUITE = Suite(
    name="lu",
    title="LU factorisation",
    sentence="Blocks dealt in two directions: at every step what one worker has finished goes to a row and a column.",
    headline=("lu.time", "lu.rate"),
    programs=with_mpi("lu"),
    build=PROBLEMS.everywhere,
    build_over_hosts=PROBLEMS.over_hosts,
    seconds=60,
    quick_seconds=10,
    by_name=True,
    described=Described(
        "LU factorisation",
        "LU factorisation of a dense matrix of blocks, without pivoting: final blocks go to the workers of their row "
        "and column.",
        ("size", SIZE),
        Paper(SCASH),
        by_rate=True,
    ),
)
