"""Barriers between the threads of a rank."""

from __future__ import annotations

from kumiki.suites.model import Alone, Grid, Point, Program, Suite

IMPLEMENTATIONS = 6
"""Kumiki's barrier, the paper's central one, pthread, std::barrier, OpenMP, and the bare flags that bound them"""


def _points(grid: Grid) -> list[Point]:
    return [
        Point(
            suite="thread-barrier",
            metric="thread_barrier.time",
            implementation="kumiki",
            program="thread-barrier",
            arguments=("--threads", str(threads)),
            launcher=Alone(threads),
            parameters={"threads": threads},
            unit="us",
            better="lower",
            seconds=0.1 if grid.quick else 0.4,
            figures=IMPLEMENTATIONS,
        )
        for threads in grid.thread_counts()
        if threads > 1
    ]


SUITE = Suite(
    name="thread-barrier",
    title="Thread barrier",
    sentence="The cost of a barrier between the threads of a rank, beside common barriers and bare flags.",
    headline=("thread_barrier.time",),
    programs=(Program("thread-barrier"),),
    build=_points,
    seconds=8,
    quick_seconds=3,
)
