"""The memory bus."""

from __future__ import annotations

from kumiki.suites.model import Alone, Grid, Point, Program, Suite

OPERATIONS = 5
"""read, write, copy, memcpy, non-temporal copy"""


def _points(grid: Grid) -> list[Point]:
    return [
        Point(
            suite="memory",
            metric="memory.copy",
            implementation="bound",
            program="memory",
            arguments=("--threads", str(threads)),
            launcher=Alone(threads),
            parameters={"threads": threads},
            unit="GB/s",
            better="higher",
            seconds=0.15 if grid.quick else 1.5,
            figures=OPERATIONS,
            sample_seconds=0.04,
        )
        for threads in grid.thread_counts(oversubscribed=False)
    ]


SUITE = Suite(
    name="memory",
    title="Memory bus",
    sentence="Memory bandwidth with 1, 2, ... threads, and the number of threads from which more gain nothing.",
    headline=("memory.read", "memory.write", "memory.copy", "memory.memcpy", "memory.nontemporal"),
    programs=(Program("memory"),),
    build=_points,
    seconds=17,
    quick_seconds=3,
    limits_programs=True,
)
