"""The radix sort."""

from __future__ import annotations

from dataclasses import replace

from kumiki.suites import bound
from kumiki.suites.described import Described, Paper
from kumiki.suites.kernel import Workload
from kumiki.suites.model import Alone, Grid, Point, Suite, with_mpi

SMALL = 4 * 2**20
LARGE = 64 * 2**20
ONE_CORE_KEYS_PER_SECOND = {"vector": 250e6, "plain": 65e6}


MADE_AND_CHECKED_KEYS_PER_SECOND = 35e6
LIBRARIES = 2
"""Highway's vector sort on one core, and TBB's parallel sort"""


def _workload(keys: int, kernel: str | None = None) -> Workload:
    """Sorting this many keys, locally with the library's vector kernel if there is one, or with the named kernel."""
    return Workload(
        suite="radix-sort",
        program="radix-sort",
        metric="radix_sort.time",
        arguments=("--keys", str(keys), *(("--kernel", kernel) if kernel else ())),
        parameters={"keys": keys, **({"kernel": kernel} if kernel else {})},
        setup_seconds=keys / MADE_AND_CHECKED_KEYS_PER_SECOND,
        one_core_seconds=keys / ONE_CORE_KEYS_PER_SECOND[kernel or "vector"],
        # A sort reads every key, writes it to its bucket, and sorts it there. That is the same with any kernel.
        traffic=None if kernel else bound.Traffic(work=keys / 1e6, unit="Mkeys/s", read=4 * keys, update=4 * keys),
    )


USUAL = _workload(SMALL)


def _points(grid: Grid) -> list[Point]:
    """The paper's sort; if the suite is named, also the plain kernel, and keys that fit into no cache."""
    points = [*USUAL.everywhere(grid), _library(grid, USUAL)]
    if grid.in_full:
        points += [*_workload(SMALL, "plain").where_it_tells(grid), *_workload(LARGE).where_it_tells(grid)]
    return points


def _over_hosts(grid: Grid) -> list[Point]:
    return replace(USUAL, arguments=(*USUAL.arguments, "--messages")).over_hosts(grid)


def _library(grid: Grid, workload: Workload) -> Point:
    threads = ("--threads", str(grid.cores))
    return replace(workload.point(grid, Alone(), "library", threads, implementation="library"), figures=LIBRARIES)


SUITE = Suite(
    name="radix-sort",
    title="Radix sort",
    sentence="All ranks exchange all data: the limits of the memory bus and of the exchange between ranks.",
    headline=("radix_sort.time", "radix_sort.rate", "radix_sort.bound"),
    programs=(*with_mpi("radix-sort"), bound.PROGRAM),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=52,
    quick_seconds=7,
    described=Described(
        "Radix sort",
        "Integer sort: every rank exchanges keys with every other rank.",
        ("keys", 4 << 20),
        Paper(speedup="Figure 11"),
    ),
)
