"""NPB's integer sort."""

from __future__ import annotations

from kumiki.suites import bound
from kumiki.suites.described import MAESTRO, Described, Paper
from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Grid, Point, Suite, with_mpi

ONE_CORE_SECONDS = {"S": 0.003, "W": 0.04, "A": 0.4, "B": 2.0}
SETUP_SECONDS = {"S": 0.1, "W": 0.1, "A": 0.5, "B": 2.0}
"""Seconds to generate the keys and for the full verification."""
KEYS = {"S": 2**16, "W": 2**20, "A": 2**23, "B": 2**25}


def _workload(size: str) -> Workload:
    keys = KEYS[size]
    return Workload(
        suite="is",
        program="is",
        metric="is.time",
        arguments=("--class", size),
        parameters={"class": size},
        one_core_seconds=ONE_CORE_SECONDS[size],
        setup_seconds=SETUP_SECONDS[size],
        in_messages=True,
        # An iteration reads every key, writes it to its bucket, and reads it there.
        traffic=bound.Traffic(work=keys / 1e6, unit="Mop/s", read=4 * keys, update=4 * keys),
    )


PROBLEMS = Problems(_workload("W"), _workload("A"), [_workload(size) for size in ("S", "W", "B")])


def _over_hosts(grid: Grid) -> list[Point]:
    return [*PROBLEMS.over_hosts(grid), *PROBLEMS.usual.over_few_hosts(grid)]


SUITE = Suite(
    name="is",
    title="Integer sort (NPB IS)",
    sentence="Ranking of integers, ten times: between ranks every key moves, within a rank only counters.",
    headline=("is.time", "is.rate", "is.bound"),
    programs=(*with_mpi("is"), bound.PROGRAM),
    build=PROBLEMS.everywhere,
    build_over_hosts=_over_hosts,
    seconds=135,
    quick_seconds=12,
    by_name=True,
    described=Described(
        "Integer sort",
        "NPB's integer sort: every key moves to the rank that counts keys of its range.",
        ("class", "A"),
        Paper(
            MAESTRO,
            time="Figure 6",
            over_hosts="Figure 6",
            over_hosts_result="In the paper one PC is faster than two on both networks, and Maestro is at best 1.4 "
            "times as fast as Ethernet.",
        ),
    ),
)
