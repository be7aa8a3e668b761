"""Which points there are, in which order, and how long they may take."""

from __future__ import annotations

from itertools import pairwise
from operator import attrgetter

import pytest
from fake_native import Native as Prefix
from hypothesis import given
from hypothesis import strategies as st
from kumiki import suites
from kumiki.errors import UserError
from kumiki.evaluation.plan import Request, plan
from kumiki.machine.native import Native
from kumiki.suites import fragments, reference_hpl
from kumiki.suites.model import Grid, Mpirun, Point, Suite

CORES = st.integers(1, 130)


def all_points(request: Request, cores: int, seed: int = 1) -> list[Point]:
    return [point for _, points in plan(request, cores, seed) for point in points]


def test_grid_of_two_cores() -> None:
    assert Grid(2).pairs() == [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (4, 1)]
    assert Grid(2).thread_counts(oversubscribed=False) == [1, 2]
    assert Grid(2).rank_counts(oversubscribed=True) == [1, 2, 4]


def test_grid_of_six_cores_uses_all_six_in_every_split() -> None:
    assert {pair for pair in Grid(6).pairs() if pair[0] * pair[1] == 6} == {(1, 6), (2, 3), (3, 2), (6, 1)}


@given(CORES)
def test_grid_has_powers_of_two_all_cores_all_but_one_and_one_oversubscribed_column(cores: int) -> None:
    totals = {ranks * threads for ranks, threads in Grid(cores).pairs()}
    powers = {2**power for power in range(8) if 2**power <= cores}
    assert totals == powers | {cores, max(1, cores - 1), 2 * cores}
    quick = {ranks * threads for ranks, threads in Grid(cores, quick=True).pairs()}
    assert quick == powers | {cores}


@given(
    CORES, st.sets(st.integers(1, 200), min_size=1, max_size=3), st.sets(st.integers(1, 200), min_size=1, max_size=3)
)
def test_named_numbers_are_measured_and_no_others(cores: int, ranks: set[int], threads: set[int]) -> None:
    named_ranks, named_threads = tuple(ranks), tuple(threads)
    assert set(Grid(cores, ranks=named_ranks, threads=named_threads).pairs()) == {
        (r, t) for r in ranks for t in threads
    }
    assert {pair[0] for pair in Grid(cores, ranks=named_ranks).pairs()} == ranks
    assert {pair[1] for pair in Grid(cores, threads=named_threads).pairs()} == threads


@pytest.mark.parametrize("cores", [1, 2, 6, 8, 64])
@pytest.mark.parametrize("quick", [False, True])
def test_every_point_is_named_once(cores: int, quick: bool) -> None:
    keys = [point.key for point in all_points(Request(quick=quick), cores)]
    assert len(keys) == len(set(keys))


def test_whole_evaluation_fits_its_time_on_two_cores() -> None:
    assert sum(point.estimated_seconds for point in all_points(Request(), 2)) < 200
    assert sum(point.estimated_seconds for point in all_points(Request(quick=True), 2)) < 60


def test_budgets_shrink_on_a_machine_of_many_cores() -> None:
    few = next(point for point in all_points(Request(suites=("laplace",)), 2))
    many = next(point for point in all_points(Request(suites=("laplace",)), 64))
    assert many.seconds < few.seconds


@given(st.integers(0, 2**32), st.sampled_from([2, 6, 16]))
def test_order_is_random_by_seed_and_keeps_peers_together(seed: int, cores: int) -> None:
    for (suite, points), (_, again) in zip(plan(Request(), cores, seed), plan(Request(), cores, seed), strict=True):
        assert points == again
        assert sorted(point.key for point in points) == sorted(point.key for point in suite.points(Grid(cores)))
        for key in (attrgetter("total"), attrgetter("place")):
            groups = [key(point) for point in points]
            borders = sum(left != right for left, right in pairwise(groups))
            assert borders == len(set(groups)) - 1, suite.name


def test_different_seeds_give_different_orders() -> None:
    orders = {tuple(point.key for point in all_points(Request(), 2, seed)) for seed in range(5)}
    assert len(orders) == 5


def test_mpi_is_bound_to_cores_only_where_there_are_enough() -> None:
    points = [point for point in all_points(Request(suites=("rank-barrier",)), 2) if isinstance(point.launcher, Mpirun)]
    for point in points:
        command = point.command(Native.installed(), cores=2)
        crowded = point.launcher.ranks > 2
        words = " ".join(command.arguments)
        if point.implementation == "openmpi":
            assert ("--bind-to none" if crowded else "--bind-to core") in words
            assert "--oversubscribe --allow-run-as-root" in words
            assert command.variables["OMPI_MCA_rmaps_base_oversubscribe"] == "1"
        else:
            assert ("-bind-to core" in words) is not crowded


def test_point_is_absent_where_its_peer_is(bare: Prefix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", bare.environment["PATH"])
    native = Native(bare.prefix)
    points = {point.program: point for point in all_points(Request(suites=("remote-memory",)), 2)}
    assert "mpirun.openmpi is missing" in (points["remote-memory-openmpi"].absence(native) or "")
    assert "libucx-dev" in (points["remote-memory-ucx"].absence(native) or "")
    assert points["remote-memory"].absence(native) is None
    bare.program("remote-memory-ucx", "")
    assert points["remote-memory-ucx"].absence(native) is None


def test_unknown_suite_names_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean 'radix-sort'"):
        suites.chosen(["radixsort"])
    assert [suite.name for suite in suites.chosen(["cg", "memory"])] == ["memory", "cg"]


def test_some_suites_are_measured_only_by_name() -> None:
    assert "himeno" not in [suite.name for suite in suites.chosen(None)]
    assert "himeno" not in [suite.name for suite in suites.chosen(None, over_hosts=True)]
    assert [suite.name for suite in suites.chosen(["himeno"])] == ["himeno"]


def hpl() -> set[str]:
    """Reference HPL, where it is found."""
    return {reference_hpl.NAME} if reference_hpl.found() else set()


@pytest.mark.parametrize(
    "suite", [suite for suite in suites.ALL if suite.by_name and suite.build], ids=lambda suite: suite.name
)
def test_a_suite_by_name_has_its_peers_and_fits_its_time(suite: Suite) -> None:
    for cores in (1, 2, 6):
        points = all_points(Request(suites=(suite.name,)), cores)
        assert len({point.key for point in points}) == len(points)
        others = {
            "message": {"ucx"},
            "mpi": set(),
            "pi": {"openmp"},
            "lu": {"openmp"},
            "linpack": {"bound", *hpl()},
            "shared": {"openmp"},
            "openmp": {"libgomp", "libomp"},
        }
        ours = {"kumiki"} | others.get(suite.name, {"openmp", "bound"})
        peers = set() if suite.name in ("linpack", "shared") else {"openmpi", "mpich"}
        if suite.name == "openmp" and cores == 1:
            peers = set()  # with as many ranks as threads there is one
        assert ours | peers == {point.implementation for point in points}
    for quick, allowed in ((False, suite.seconds), (True, suite.quick_seconds)):
        points = all_points(Request(suites=(suite.name,), quick=quick), 2)
        assert sum(point.estimated_seconds for point in points) <= allowed + 1


@pytest.mark.parametrize(
    ("suite", "name"), [("himeno", "pencils"), ("laplace-sor", "tiles"), ("cavity", "tiles"), ("diffusion", "tiles")]
)
def test_a_grid_cut_both_ways_is_measured_where_that_differs_from_the_papers_cut(suite: str, name: str) -> None:
    def cut(cores: int) -> list[Point]:
        return [point for point in all_points(Request(suites=(suite,)), cores) if "split" in point.parameters]

    assert cut(2) == []
    assert {point.place for point in cut(4)} == {(2, 2), (4, 1)}
    assert {(point.parameters["split"], *point.arguments[-2:]) for point in cut(4)} == {(name, "--split", name)}


@pytest.mark.parametrize(
    ("suite", "sizes"),
    [
        ("himeno", {"SS", "S", "M", "L"}),
        ("diffusion", {17, 129, 257, 513, 1025, 2049}),
        ("laplace-sor", {129, 257, 513, 1025, 2049}),
        ("cavity", {65, 129}),
        ("pi", {2**31 - 1}),
    ],
)
def test_the_papers_problems_are_measured_on_one_core_and_on_all(suite: str, sizes: set[int | str]) -> None:
    points = all_points(Request(suites=(suite,)), 2)
    named = {point.parameters.get("size", point.parameters.get("count")) for point in points}
    assert named == sizes
    for size in sizes:
        mine = [point for point in points if size in point.parameters.values()]
        assert {1, 2} <= {point.total for point in mine}
        assert {"sequential", "hybrid", "mpi"} <= {point.parameters["form"] for point in mine}


def test_a_problem_is_not_cut_into_more_parts_than_it_has_lines() -> None:
    small = [point for point in all_points(Request(suites=("diffusion",)), 64) if point.parameters["size"] == 17]
    assert max(point.total for point in small) == 8


def test_himeno_in_the_papers_form_at_every_size_and_number_of_ranks() -> None:
    points = all_points(Request(suites=("himeno",)), 4)
    found = [point for point in points if point.parameters["form"] == "sendrecv" and point.implementation == "mpich"]
    assert {(point.parameters["size"], point.launcher.ranks) for point in found} == {
        (size, ranks) for size in ("SS", "S", "M", "L") for ranks in (1, 2, 4)
    }
    assert all(point.program == "himeno-mpich" and point.arguments[-1] == "--sendrecv" for point in found)


@pytest.mark.parametrize(
    "suite", ["laplace", "matmul", "radix-sort", "cg", "himeno", "pi", "laplace-sor", "cavity", "lu"]
)
def test_one_core_is_left_free_once(suite: str) -> None:
    points = all_points(Request(suites=(suite,)), 8)
    assert {(1, 7), (7, 1)} <= {point.place for point in points if point.parameters.get("form") == "hybrid"}
    quick = all_points(Request(suites=(suite,), quick=True), 8)
    assert 7 not in {point.total for point in quick}


def test_diffusion_by_jacobi_is_measured_on_one_core_and_on_all() -> None:
    points = [point for point in all_points(Request(suites=("diffusion",)), 4) if "method" in point.parameters]
    assert {point.place for point in points} >= {(1, 1), (1, 4), (2, 2), (4, 1)}
    assert {point.parameters["form"] for point in points} == {"sequential", "openmp", "hybrid", "message", "mpi"}
    assert all("jacobi" in point.arguments for point in points)


def test_by_name_barriers_go_up_to_sixteen_ranks_and_the_usual_run_does_not() -> None:
    def ranks(request: Request, cores: int = 2) -> set[int]:
        return {point.launcher.ranks for point in all_points(request, cores) if point.suite == "rank-barrier"}

    named = Request(suites=("rank-barrier",))
    assert ranks(Request()) == ranks(Request(suites=("rank-barrier",), quick=True)) | {2, 4} == {2, 4}
    assert ranks(named) == {2, 4, 8, 16}
    assert ranks(named, 24) == {2, 4, 8, 16, 24, 48}
    assert ranks(Request(suites=("rank-barrier",), ranks=(3,))) == {3}
    by = {(point.implementation, point.launcher.ranks) for point in all_points(named, 2)}
    assert {("mpich", 16), ("openmpi", 16), ("kumiki", 16)} <= by


def test_by_name_the_sort_is_measured_with_more_keys_and_the_plain_kernel() -> None:
    def variants(request: Request) -> set[str]:
        points = [point for point in all_points(request, 2) if point.program == "radix-sort"]
        return {word for point in points for word in ("plain", "67108864") if word in point.arguments}

    assert variants(Request(suites=("radix-sort",))) == {"plain", "67108864"}
    assert variants(Request()) == variants(Request(suites=("radix-sort",), quick=True)) == set()


def test_by_name_the_product_tells_communication_by_threads() -> None:
    def everyone(request: Request) -> list[tuple[int, int]]:
        points = [point for point in all_points(request, 2) if "--all-threads" in point.arguments]
        assert all(point.parameters["all_threads"] == "yes" and "before" in point.arguments for point in points)
        return sorted(point.place for point in points)

    assert everyone(Request(suites=("matmul",))) == [(2, 1), (2, 2), (2, 4)]
    assert everyone(Request()) == everyone(Request(suites=("matmul",), threads=(1,))) == []


def test_homes_are_compared_over_numbers_of_ranks_and_after_one_rank_has_initialized() -> None:
    points = all_points(Request(suites=("shared",)), 2)
    copies = [point for point in points if point.parameters.get("copies") == "rank"]
    for program in ("laplace", "lu", "diffusion"):
        found = {(point.launcher.ranks, point.parameters["homes"]) for point in copies if point.program == program}
        assert {(ranks, homes) for ranks in (2, 4) for homes in ("hand", "block", "first")} <= found
        assert any(point.program == program and point.parameters["form"] == "sequential" for point in points[2:])
    one = {point.parameters["homes"] for point in copies if "--touch" in point.arguments}
    assert one == {"hand", "first", "next", "relocated"}
    assert all((point.variables or {}) == {"KUMIKI_SHARED_COPIES": "rank"} for point in copies)


def test_fragments_are_swept_over_sizes_of_messages_but_not_by_tune() -> None:
    points = [point for point in all_points(Request(suites=("message",)), 2) if point.program == "fragment"]
    assert len(points) == 7
    for point in points:
        assert point.arguments == ("--smallest", "4096", "--largest", str(2**24)) and point.figures == 7
    assert fragments.point("tune", 4048, 2**24, None, 0.1).arguments == ("--largest", str(2**24))


BOUNDED = {"laplace", "radix-sort", "cg", "himeno", "is", "diffusion", "laplace-sor", "cavity"}


def bounds_of(suite: str, cores: int = 6, quick: bool = False) -> list[Point]:
    points = all_points(Request(suites=(suite,), quick=quick), cores)
    return [point for point in points if point.program == "streams"]


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("suite", sorted(BOUNDED))
def test_a_program_that_moves_data_has_a_bound_for_each_number_of_threads(suite: str, quick: bool) -> None:
    found = bounds_of(suite, quick=quick)
    points = all_points(Request(suites=(suite,), quick=quick), 6)
    sequential = [point for point in points if point.parameters["form"] == "sequential"]
    sizes = {tuple(sorted((n, v) for n, v in p.parameters.items() if n not in PLACES)) for p in sequential}
    bounded = {tuple(sorted((n, v) for n, v in p.parameters.items() if n not in PLACES)) for p in found}
    # With another method or kernel, either the problem is the same, or the amount of data is not known.
    assert bounded == {size for size in sizes if not {"method", "kernel"} & dict(size).keys()}
    usual = [point for point in found if {1, 2, 4, 6} <= {p.total for p in found if same_problem(p, point)}]
    assert usual and max(point.total for point in found) == 6
    for point in found:
        assert point.metric == f"{suite.replace('-', '_')}.bound" and point.better == "higher"
        assert point.implementation == point.parameters["form"] == "bound"
        assert (point.variables or {})["OMP_PROC_BIND"] == "close"
        assert point.estimated_seconds < 3


PLACES = ("form", "ranks", "threads")


def same_problem(one: Point, other: Point) -> bool:
    return all(one.parameters[name] == value for name, value in other.parameters.items() if name not in PLACES)


def test_a_program_without_data_has_no_bound_of_moving_it() -> None:
    assert {suite.name for suite in suites.ALL if suite.build and bounds_of(suite.name)} == BOUNDED
    assert bounds_of("pi") == []


def test_bounds_follow_the_size_of_the_problem() -> None:
    def moved(point: Point) -> tuple[int, int, float]:
        options = dict(zip(point.arguments, point.arguments[1:], strict=False))
        return int(options["--read"]), int(options["--update"]), float(options["--work"])

    (laplace, *_) = bounds_of("laplace")
    assert moved(laplace) == (0, 640 * 640 * 8, 0.4096)
    himeno = next(point for point in bounds_of("himeno") if point.parameters["size"] == "SS")
    assert moved(himeno) == (30 * 30 * 64 * 48, 30 * 30 * 64 * 4, pytest.approx(30 * 30 * 62 * 34e-6))
    sorting = next(point for point in bounds_of("is") if point.parameters["class"] == "A")
    assert moved(sorting) == (2**25, 2**25, pytest.approx(2**23 / 1e6))
