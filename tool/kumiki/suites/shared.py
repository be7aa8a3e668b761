"""Shared arrays: what keeping their pages consistent costs, and programs whose data are in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kumiki.suites import cg, diffusion, himeno, matmul, radix_sort
from kumiki.suites.kernel import Workload
from kumiki.suites.model import Grid, KumikiRun, Point, Program, Suite

SUITE_NAME = "shared"
COPIES: Mapping[str, str] = {"KUMIKI_SHARED_COPIES": "rank"}
"""Every rank gets a copy of its own, as between hosts, also where the ranks could share one memory."""
HOMES = ("block", "cyclic", "first")
HOMES_OF_LAPLACE = (*HOMES, "next", "relocated")
FIGURES_OF_ONE_MEMORY = 2
"""The barrier, and a rank barrier."""
FIGURES_OF_COPIES = 14
"""Barriers (3), first touches (3) and zero fill, a miss, an upgrade, differences (2), a bare fault, a scan and puts."""
SIZE = 1024
ITERATIONS, QUICK_ITERATIONS = 50, 10
"""Of the paper's program; its grid is the same in a quick evaluation."""
ONE_CORE_SECONDS_PER_ITERATION = 0.8e-3
OTHERS = (
    matmul.PROBLEMS.quick,
    radix_sort.USUAL,
    cg.PROBLEMS.quick,
    himeno.PROBLEMS.quick,
    diffusion.PROBLEMS.quick,
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


def _workloads(grid: Grid) -> list[Workload]:
    return [_laplace(grid), *(() if grid.quick else (replace(other, suite=SUITE_NAME) for other in OTHERS))]


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
    grid: Grid, workload: Workload, pair: tuple[int, int], homes: str, variables: Mapping[str, str] | None = None
) -> Point:
    """The program with its data in shared arrays."""
    variant = workload.variant("homes", homes, "--homes", homes)
    copies = "rank" if grid.hosts or variables else "host"
    point = variant.variant("copies", copies).hybrid(grid, pair, "shared")
    return replace(point, variables=variables)


def _points(grid: Grid) -> list[Point]:
    """A rank on each core, with one memory and with a copy for each rank; beside them threads, and ranks that put."""
    pages = [_pages(grid, FIGURES_OF_ONE_MEMORY), _pages(grid, FIGURES_OF_COPIES, COPIES)]
    return [*pages, *(point for workload in _workloads(grid) for point in _on_this_host(grid, workload))]


def _on_this_host(grid: Grid, workload: Workload) -> Iterator[Point]:
    ranks = (max(grid.cores, 2), 1)
    yield workload.openmp(grid, max(grid.cores, 2))
    yield workload.hybrid(grid, ranks)
    yield _shared(grid, workload, ranks, "block")
    for homes in _homes_for(workload):
        yield _shared(grid, workload, ranks, homes, COPIES)


def _homes_for(workload: Workload) -> tuple[str, ...]:
    return HOMES_OF_LAPLACE if workload.program == "laplace" else HOMES


def _over_hosts(grid: Grid) -> list[Point]:
    """A rank on each host."""
    assert grid.hosts is not None
    ranks = (len(grid.hosts), 1)
    return [
        _pages(grid, FIGURES_OF_COPIES + 1),  # a round trip by TCP
        *(
            point
            for workload in _workloads(grid)
            for point in (
                workload.hybrid(grid, ranks),
                *(_shared(grid, workload, ranks, homes) for homes in _homes_for(workload)),
            )
        ),
    ]


SUITE = Suite(
    name=SUITE_NAME,
    title="Shared arrays",
    sentence="The cost of pages that hosts share, and programs whose data are in shared arrays, beside puts and gets.",
    headline=(
        "page_miss.time",
        "page_upgrade.time",
        "diff.time",
        "shared_barrier.time",
        "shared_scan.bandwidth",
        "laplace.time",
    ),
    programs=(Program("shared"), Program("laplace"), *(Program(other.program, other.built_on) for other in OTHERS)),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=40,
    quick_seconds=10,
    by_name=True,
)
