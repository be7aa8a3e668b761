"""OpenMP programs on Kumiki's runtime, on libgomp and on libomp: what constructs cost, and how fast programs are, as
one process and as several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from kumiki.explain.moved import PAGES, RECORDED
from kumiki.machine.peer import Peer
from kumiki.suites import (
    cavity,
    cg,
    diffusion,
    himeno,
    integer_sort,
    laplace,
    laplace_sor,
    matmul,
    radix_sort,
)
from kumiki.suites.kernel import QUICK_SECONDS, Workload, places
from kumiki.suites.model import Alone, Grid, KumikiRun, Launcher, Point, Program, Suite
from kumiki.suites.openmp_point import KUMIKI, LIBGOMP, LIBOMP, SUITE_NAME, TIME, OpenMpPoint, on_libomp

OVERHEAD, FORK_JOIN = "openmp.overhead", "openmp.fork_join"
CONSTRUCTS = 12
ROUNDS = 3
"""How often constructs are measured on each runtime: where threads and memory are differs from start to start."""
COPIES: Mapping[str, str] = {"KUMIKI_SHARED_COPIES": "rank"}
SPREAD = ("--openmp", "--regions", "all")
"""As several processes: regions run on all of them, also where the first one alone would be faster."""
"""Makes each rank a process with a copy of the memory, as if it were alone on its host."""
PROGRAM_SECONDS, RECORDED_SECONDS = 0.5, 0.05
FORTRAN = Peer("gfortran", "gfortran", "a Fortran compiler", "gfortran")
BY_HAND = "by hand"
"""The homes of a variable that the user has placed (--map)."""


@dataclass(frozen=True)
class Work:
    """One problem of one OpenMP program."""

    name: str
    program: str
    """The program of the native part."""
    metric: str
    """What the program calls its time."""
    arguments: tuple[str, ...] = ()
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    one_core_seconds: float = 0.02
    setup_seconds: float = 0.0
    built_on: Peer | None = None
    twin: Workload | None = None
    """The same problem, which MPIs solve, too."""
    placements: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By name the options of placements, besides first touch, that are compared with it."""


def _of_kernel(workload: Workload) -> Work:
    """A program of the papers in its form `openmp`, which is an OpenMP program like any other."""
    return Work(
        workload.program,
        workload.program,
        workload.metric,
        ("--form", "openmp", *workload.arguments),
        workload.parameters,
        workload.one_core_seconds,
        workload.setup_seconds,
        workload.built_on,
        replace(workload, suite=SUITE_NAME),
    )


def _of_rows(variant: str, seconds: float, placements: Mapping[str, tuple[str, ...]]) -> Work:
    arguments = ("--variant", variant)
    return Work(
        "rows", "openmp-rows", TIME, arguments, {"variant": variant}, one_core_seconds=seconds, placements=placements
    )


def _homes(homes: str) -> tuple[str, ...]:
    return ("--homes", homes)


PLANES, ROWS = ("--map", "__cube_MOD_u=[block:64]"), ("--map", "field=[block:256]")
"""The variables of two programs, in blocks of planes or rows for the threads that work on them."""
AFFINE = ("--schedule", "affinity:field[256]")
KERNELS = tuple(
    _of_kernel(workload)
    for workload in (
        laplace.PROBLEMS.quick,
        matmul.PROBLEMS.quick,
        radix_sort.USUAL,
        cg.PROBLEMS.quick,
        himeno.PROBLEMS.quick,
        integer_sort.PROBLEMS.quick,
        diffusion.PROBLEMS.quick,
        laplace_sor.PROBLEMS.quick,
        cavity.PROBLEMS.quick,
    )
)
OWN = (
    Work("mandelbrot", "openmp-mandelbrot", TIME),
    Work("queens", "openmp-queens", TIME),
    Work(
        "adi",
        "openmp-adi",
        TIME,
        built_on=FORTRAN,
        placements={"owner": _homes("owner"), "block": _homes("block"), BY_HAND: (*_homes("first"), *PLANES)},
    ),
    _of_rows("static", 0.05, {"owner": _homes("owner"), "next": _homes("next"), BY_HAND: (*_homes("first"), *ROWS)}),
    _of_rows("dynamic", 0.05, {"next": _homes("next"), "affinity": (*_homes("first"), *ROWS, *AFFINE)}),
    _of_rows("uneven", 0.1, {"measured": (*_homes("first"), "--schedule", "measured")}),
    Work("wavefront", "openmp-wavefront", TIME),
)


def _works(grid: Grid) -> tuple[Work, ...]:
    return (KERNELS[0], *OWN[:4]) if grid.quick else (*KERNELS, *OWN)


def _time(
    grid: Grid,
    work: Work,
    launcher: Launcher,
    implementation: str,
    homes: str = "",
    variables: Mapping[str, str] | None = None,
) -> OpenMpPoint:
    """The program on a runtime; `homes` only where pages have homes, in several processes."""
    total = launcher.ranks * launcher.threads
    return OpenMpPoint(
        suite=SUITE_NAME,
        metric=TIME,
        implementation=implementation,
        program=work.program,
        arguments=(*work.arguments, "--threads", str(total)),
        launcher=launcher,
        parameters={
            **{"program": work.name, **work.parameters, "ranks": launcher.ranks, "threads": launcher.threads},
            **({"homes": homes} if homes else {}),
        },
        unit="s",
        better="lower",
        seconds=QUICK_SECONDS if grid.quick else PROGRAM_SECONDS,
        sample_seconds=work.one_core_seconds / min(total, grid.all_cores),
        setup_seconds=work.setup_seconds,
        variables=variables,
        built_on=work.built_on,
        names={work.metric: TIME},
    )


def _native(grid: Grid, work: Work, threads: int) -> Iterator[Point]:
    """The program as it is, on libgomp and libomp, and as one process of Kumiki, with its threads bound on each."""
    yield _time(grid, work, Alone(threads), LIBGOMP, variables=places(grid, threads))
    yield _time(grid, work, Alone(threads), LIBOMP, variables=on_libomp(grid, threads))
    yield _time(grid, work, KumikiRun(1, threads, ("--openmp",)), KUMIKI, variables=places(grid, threads))


def _processes(grid: Grid, work: Work, pair: tuple[int, int]) -> Iterator[OpenMpPoint]:
    """As several processes, by first touch and by other placements; and once more, to see what pages do."""
    hosts = grid.hosts.for_ranks(pair[0]) if grid.hosts else None
    variables = None if hosts else COPIES
    for homes, options in {"first": (), **work.placements}.items():
        yield _time(grid, work, KumikiRun(*pair, (*SPREAD, *options), hosts=hosts), KUMIKI, homes, variables)
    if not grid.quick:
        launcher = KumikiRun(*pair, SPREAD, hosts=hosts)
        yield replace(
            _time(grid, work, launcher, KUMIKI, "first", variables),
            metric=PAGES,
            unit="1",
            seconds=RECORDED_SECONDS,
            recorded=True,
            names={metric: metric for metric in RECORDED},
        )


def _mpi(grid: Grid, work: Work, ranks: int) -> Iterator[Point]:
    """The same problem by each MPI's ranks."""
    for point in work.twin.mpi(grid, [ranks]) if work.twin and ranks > 1 else ():
        own = {"program": work.name, **work.parameters, "ranks": ranks, "threads": 1}
        seconds = QUICK_SECONDS if grid.quick else PROGRAM_SECONDS
        fields = {**vars(point), "metric": TIME, "parameters": own, "seconds": seconds}
        yield OpenMpPoint(**fields, names={work.metric: TIME})


def _overheads(grid: Grid, launcher: Launcher, implementation: str, variables: Mapping[str, str]) -> Iterator[Point]:
    threads = launcher.ranks * launcher.threads
    for again in range(1 if grid.quick or launcher.ranks > 1 else ROUNDS):
        yield OpenMpPoint(
            suite=SUITE_NAME,
            metric=OVERHEAD,
            implementation=implementation,
            program="openmp-overhead",
            arguments=("--threads", str(threads)),
            launcher=launcher,
            parameters={"ranks": launcher.ranks, "threads": launcher.threads},
            unit="us",
            better="lower",
            seconds=0.05 if grid.quick else 0.1,
            figures=CONSTRUCTS,
            sample_seconds=0.005,
            variables=variables,
            again=again,
            names={OVERHEAD: OVERHEAD},
        )


def _between(grid: Grid) -> Iterator[Point]:
    """What beginning and ending a region costs two processes, beside a barrier of ranks and a round trip."""
    hosts = grid.hosts.for_ranks(2) if grid.hosts else None
    program, metric = ("network", "network.latency") if hosts else ("remote-memory", "put.latency")
    common = OpenMpPoint(
        suite=SUITE_NAME,
        metric=FORK_JOIN,
        implementation=KUMIKI,
        program="openmp-overhead",
        arguments=("--fork-join", "--threads", "2"),
        launcher=KumikiRun(2, options=SPREAD, hosts=hosts),
        parameters={"ranks": 2, "threads": 1},
        unit="us",
        better="lower",
        seconds=0.2 if grid.quick else 0.5,
        figures=2,
        variables=None if hosts else COPIES,
        names={FORK_JOIN: FORK_JOIN},
    )
    yield common
    plain = replace(common, launcher=KumikiRun(2, hosts=hosts), arguments=(), seconds=0.1, variables=None)
    barrier = "rank_barrier.time"
    yield replace(plain, metric=barrier, program="rank-barrier", figures=4, names={barrier: barrier})
    smallest = ("--largest", "1KiB" if hosts else "4")
    yield replace(plain, metric=metric, program=program, arguments=smallest, figures=12, names={metric: metric})


def _points(grid: Grid) -> list[Point]:
    """All cores, and one; as two processes half of the cores each, beside one process with as many. Numbers of ranks
    and threads that the user names take the place of these.
    """
    threads, ranks = max(grid.threads or (grid.cores,)), max((*(grid.ranks or ()), 2))
    pair = (ranks, max(1, threads // ranks))
    points: list[Point] = list(_between(grid))
    for each in sorted(grid.threads or ({threads} if grid.quick else {1, threads})):
        points += _overheads(grid, Alone(each), LIBGOMP, places(grid, each))
        points += _overheads(grid, Alone(each), LIBOMP, on_libomp(grid, each))
        points += _overheads(grid, KumikiRun(1, each, ("--openmp",)), KUMIKI, places(grid, each))
    for work in _works(grid):
        points += _native(grid, work, threads)
        if pair[1] != threads:
            points.append(_time(grid, work, Alone(pair[1]), LIBGOMP, variables=places(grid, pair[1])))
        points += _processes(grid, work, pair)
        points += _mpi(grid, work, threads)
    return points


def _over_hosts(grid: Grid) -> list[Point]:
    """A rank on each host with the cores that it has, beside as many threads on the first host alone."""
    assert grid.hosts is not None
    count = len(grid.hosts)
    pair = (count, max(grid.threads or (max(1, grid.all_cores // count),)))
    alone = KumikiRun(1, pair[1], hosts=grid.hosts.for_ranks(1))
    points = [*_between(grid), *_overheads(grid, KumikiRun(*pair, SPREAD, hosts=grid.hosts), KUMIKI, {})]
    for work in _works(grid):
        points.append(_time(grid, work, alone, LIBGOMP))
        points += _processes(grid, work, pair)
        points += _mpi(grid, work, count)
    return points


SUITE = Suite(
    name=SUITE_NAME,
    title="OpenMP",
    sentence="OpenMP programs on Kumiki's runtime beside libgomp and libomp, on one host and over several processes.",
    headline=(OVERHEAD, FORK_JOIN, TIME),
    programs=(
        *(Program(name) for name in ("openmp-overhead", "rank-barrier", "remote-memory", "network")),
        *(Program(work.program, work.built_on) for work in (*KERNELS, *OWN[:4])),
    ),
    build=_points,
    build_over_hosts=_over_hosts,
    seconds=170,
    quick_seconds=45,
    by_name=True,
)
