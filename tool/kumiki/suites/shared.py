"""Shared arrays: what keeping their pages consistent costs, and programs whose data are in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kumiki.suites import cg, diffusion, himeno, lu, matmul, radix_sort
from kumiki.suites.kernel import Workload
from kumiki.suites.model import Alone, Grid, KumikiRun, Point, Program, Suite

SUITE_NAME = "shared"
COPIES: Mapping[str, str] = {"KUMIKI_SHARED_COPIES": "rank"}
"""Every rank gets a copy of its own, as between hosts, also where the ranks could share one memory."""
BY_HAND = "hand"
"""The homes with which others are compared: each page is at home where the program works on it."""
COMPARED = (BY_HAND, "block", "first")
"""The homes of the paper's figures."""
HOMES = (*COMPARED, "cyclic")
HOMES_OF_LAPLACE = (*HOMES, "next", "relocated")
HOMES_AFTER_ONE_TOUCH = (BY_HAND, "first", "next", "relocated")
"""Where one rank initializes everything, the first touch gives it all homes, and the other two are to mend that."""
FIGURES_OF_ONE_MEMORY = 6
"""The barrier, and a rank barrier; locks (3), and a message."""
FIGURES_OF_COPIES = 20
"""Barriers (3), first touches (3) and zero fill, a miss, an upgrade, differences (2), a bare fault, refreshed pages by
both protocols, a scan and puts, locks (3) and a message."""
SIZE = 1024
ITERATIONS, QUICK_ITERATIONS = 50, 10
"""Of the paper's program; its grid is the same in a quick evaluation."""
ONE_CORE_SECONDS_PER_ITERATION = 0.8e-3
OVER_HOSTS_STEPS = 10
"""Of diffusion over hosts."""
DRAWN = tuple(replace(each, suite=SUITE_NAME) for each in (lu.PROBLEMS.usual, diffusion.PROBLEMS.usual))
"""Programs that are drawn over ranks beside the paper's own one, in the place of NPB's BT and SP: one in which blocks
of pages are the wrong homes, and one that sweeps over a grid in alternating directions."""
DRAWN_OVER_HOSTS = tuple(
    replace(each, suite=SUITE_NAME) for each in (lu.PROBLEMS.quick, diffusion.workload(257, OVER_HOSTS_STEPS))
)
"""The same, smaller: with wrong homes nearly all pages travel in every step, and 100 Mbit/s move 3000 in a second."""
OTHERS = tuple(
    replace(other, suite=SUITE_NAME)
    for other in (matmul.PROBLEMS.quick, radix_sort.USUAL, cg.PROBLEMS.quick, himeno.PROBLEMS.quick)
)
"""Other programs; in a quick evaluation the paper's alone."""


def _laplace(grid: Grid) -> Workload:
    """The paper's program: 1024 x 1024 and 50 iterations."""
    iterations = QUICK_ITERATIONS if grid.quick else ITERATIONS
    return Workload(
        suite=SUITE_NAME,
        program="laplace",
        metric="laplace.time",
        arguments=("--size", str(SIZE), "--iterations", str(iterations)),
        parameters={"size": SIZE, "iterations": iterations},
        one_core_seconds=iterations * ONE_CORE_SECONDS_PER_ITERATION,
    )


def _drawn(grid: Grid) -> list[Workload]:
    others = DRAWN_OVER_HOSTS if grid.hosts else DRAWN
    return [_laplace(grid), *(() if grid.quick else others)]


def _others(grid: Grid) -> list[Workload]:
    return [] if grid.quick else list(OTHERS)


def _pages(grid: Grid, figures: int, variables: Mapping[str, str] | None = None) -> Point:
    """The costs of single pages, between two ranks."""
    hosts = grid.hosts.for_ranks(2) if grid.hosts else None
    return Point(
        suite=SUITE_NAME,
        metric="shared_barrier.time",
        implementation="kumiki",
        program="shared",
        arguments=(),
        launcher=KumikiRun(2, hosts=hosts),
        parameters={"ranks": 2, "fabric": "network" if hosts else "shm"},
        unit="us",
        better="lower",
        seconds=0.1 if grid.quick else 0.4,
        figures=figures,
        variables=variables,
    )


def _shared(
    grid: Grid,
    workload: Workload,
    ranks: int,
    homes: str,
    variables: Mapping[str, str] | None = None,
    protocol: str = "invalidate",
) -> Point:
    """The program with its data in shared arrays."""
    variant = workload.variant("homes", homes, "--homes", homes).variant("protocol", protocol, "--protocol", protocol)
    copies = "rank" if grid.hosts or variables else "host"
    point = variant.variant("copies", copies).hybrid(grid, (ranks, 1), "shared")
    return replace(point, variables=variables)


def _points(grid: Grid) -> list[Point]:
    """Ranks with one memory and with a copy for each; beside them threads, and ranks that put."""
    pages = [_pages(grid, FIGURES_OF_ONE_MEMORY), _pages(grid, FIGURES_OF_COPIES, COPIES)]
    ranks = max(grid.cores, 2)
    programs = [point for workload in _others(grid) for point in _on_this_host(grid, workload, ranks)]
    for workload in _drawn(grid):
        programs += [workload.point(grid, Alone(), "sequential"), *_on_this_host(grid, workload, ranks)]
        programs += _compared(grid, workload, [count for count in _counts(grid) if count != ranks], COPIES)
    return [*pages, *programs]


def _on_this_host(grid: Grid, workload: Workload, ranks: int) -> Iterator[Point]:
    yield workload.openmp(grid, ranks)
    yield workload.hybrid(grid, (ranks, 1))
    yield _shared(grid, workload, ranks, "block")
    yield from _placed(grid, workload, ranks, COPIES)


def _counts(grid: Grid) -> list[int]:
    """The numbers of ranks in the figures, beyond one; the last is twice the cores, as copies are not tied to them."""
    return [ranks for ranks in grid.rank_counts(oversubscribed=not grid.quick) if ranks > 1]


def _over_hosts(grid: Grid) -> list[Point]:
    """A rank on each host, and on fewer of them."""
    assert grid.hosts is not None
    ranks = len(grid.hosts)
    fewer = [2**power for power in range(1, ranks.bit_length()) if 2**power < ranks and not grid.quick]
    programs = []
    for workload in (*_drawn(grid), *_others(grid)):
        programs += [workload.hybrid(grid, (ranks, 1)), *_placed(grid, workload, ranks)]
    for workload in _drawn(grid):
        alone = workload.point(grid, KumikiRun(1, hosts=grid.hosts.for_ranks(1)), "sequential")
        programs += [alone, *_compared(grid, workload, fewer)]
    return [_pages(grid, FIGURES_OF_COPIES + 1), *programs]  # a round trip by TCP


def _placed(grid: Grid, workload: Workload, ranks: int, variables: Mapping[str, str] | None = None) -> Iterator[Point]:
    """With copies, on all ranks: every kind of homes, and the other protocol."""
    for homes in HOMES_OF_LAPLACE if workload.program == "laplace" else HOMES:
        yield _shared(grid, workload, ranks, homes, variables)
    yield _shared(grid, workload, ranks, "first", variables, "update")
    if workload.program == "lu":
        for homes in HOMES_AFTER_ONE_TOUCH:
            yield _shared(grid, workload.variant("touch", "one", "--touch", "one"), ranks, homes, variables)


def _compared(
    grid: Grid, workload: Workload, counts: list[int], variables: Mapping[str, str] | None = None
) -> Iterator[Point]:
    """With copies, on these numbers of ranks: the homes of the paper's figures."""
    for ranks in counts:
        for homes in COMPARED:
            yield _shared(grid, workload, ranks, homes, variables)


SUITE = Suite(
    name=SUITE_NAME,
    title="Shared arrays",
    sentence="The cost of pages that hosts share, and programs whose data are in shared arrays, beside puts and gets.",
    headline=(
        "page_miss.time",
        "page_upgrade.time",
        "diff.time",
        "shared_barrier.time",
        "shared_lock.time",
        "shared_scan.bandwidth",
        "laplace.time",
        "lu.time",
    ),
    programs=(
        *(Program("shared"), Program("laplace")),
        *(Program(other.program, other.built_on) for other in (*DRAWN, *OTHERS)),
    ),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=90,
    quick_seconds=10,
    by_name=True,
)
