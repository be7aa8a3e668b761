"""`kumiki predict linpack`: the recursion beside closed forms and the paper's runs (M6 to M8); files of machines."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from kumiki.command import app
from kumiki.errors import UserError
from kumiki.linpack.model import operations
from kumiki.predict.linpack.description import machine_of, text_of
from kumiki.predict.linpack.devices import bus_of
from kumiki.predict.linpack.machine import Kind, Machine, Rate, Run
from kumiki.predict.linpack.model import predict
from kumiki.predict.linpack.recursion import expected, fitted
from typer.testing import CliRunner

PAPER = machine_of(None, [])
CPU, SIMD8, SIMD16 = PAPER.runs
SMALL = """
name = "two nodes"
source = "a test"
link_rate = 100
[kinds.slow]
product = { rate = [[100, 4], [1000, 5]], variation = [0.9, 1.1] }
panel = 2
solution = 1
narrow = 3
threads = 2
[[runs]]
name = "one"
n = 1000
block = 100
grid = "1x2"
kinds = ["slow"]
known = 9
"""


def constant(rate: float) -> Rate:
    return Rate(((1.0, rate),))


def alike(rate: float, link_rate: float = inf, threads: int = 1) -> Machine:
    kind = Kind(product=constant(rate), panel=constant(rate), solve=constant(rate), threads=threads)
    return Machine("test", "a test", {"one": kind}, (), link_rate)


def run(n: int, block: int, rows: int = 1, columns: int = 1) -> Run:
    return Run("run", n, block, rows, columns, ("one",))


def test_m6_the_board_gives_its_two_published_rates() -> None:
    board = PAPER.kinds["board"]
    alone = replace(board, product=replace(board.product, shared=1))
    for size, block, published in ((1920, 384, 18), (11520, 960, 38)):
        rate = 2 * size**2 * block / alone.multiply(size, size, block) / 1e9
        assert rate == pytest.approx(published, rel=0.01)
    # Three processes that share the board are about as fast as a host process each, and four would be slower (F45).
    share = 2 * 11520**2 * 576 / board.multiply(11520, 11520, 576) / 1e9
    host = PAPER.kinds["host"].product.at(11520)
    assert 0.95 * host < share < 1.1 * host and 3 / 4 * share < 0.9 * host


def test_m7_one_constant_fitted_to_the_run_without_boards_gives_the_others() -> None:
    machine = fitted(PAPER, CPU)
    assert machine.link_rate == pytest.approx(PAPER.link_rate, rel=1e-3)
    assert expected(machine, CPU).rate == pytest.approx(981.2, rel=1e-4)
    assert expected(machine, SIMD8).rate == pytest.approx(1062, rel=0.03)
    assert expected(machine, SIMD16).rate == pytest.approx(1169, rel=0.03)


def test_m8_blocks_divide_the_paper_s_sizes_and_the_matrix_fits() -> None:
    for each in PAPER.runs:
        assert each.n % each.block == 0
        assert 8 * each.n**2 / 16 / 2**30 == pytest.approx(15.8, rel=0.01)


def test_boards_pay_only_for_large_matrices() -> None:
    check = next(check for check in predict(PAPER).checks if "from N" in check.what)
    assert 46080 < check.predicted < 92160


def test_on_one_process_all_operations_are_counted() -> None:
    for n, block in ((2000, 50), (3000, 192)):
        assert expected(alike(5.0), run(n, block)).rate == pytest.approx(5.0, rel=0.02)


@given(some.integers(1, 700), some.integers(1, 90), some.integers(1, 5))
def test_columns_are_those_of_the_blocks(n: int, block: int, columns: int) -> None:
    one = run(n, block, 1, columns)
    for step in range(one.steps + 1):
        for column in range(columns):
            blocks = [each for each in range(step, one.steps) if each % columns == column]
            wanted = sum(min(block, n - each * block) for each in blocks)
            assert one.local_columns(column, step) == wanted
        # Rows are dealt alike, and the process row with the most of them counts.
        assert max(one.local_columns(column, step) for column in range(columns)) == replace(
            one, rows=columns
        ).local_rows(step)


@given(
    some.integers(1, 3000),
    some.integers(16, 300),
    some.integers(1, 4),
    some.integers(1, 4),
    some.sampled_from((1.0, 100.0, inf)),
    some.integers(1, 4),
)
def test_nothing_is_faster_than_all_processes(
    n: int, block: int, rows: int, columns: int, link: float, threads: int
) -> None:
    one = run(n, block, rows, columns)
    updates = sum(2 * block * (n - end) ** 2 for end in range(block, n, block))
    least = updates / (5e9 * rows * columns)
    assert operations(n) / 1e9 / expected(alike(5.0, link, threads), one).rate >= least


def test_a_slow_link_and_a_slow_panel_cost_time() -> None:
    one = run(4000, 200, 2, 2)
    free = expected(alike(5.0), one).rate
    assert expected(alike(5.0, 100.0), one).rate < 0.95 * free
    machine = alike(5.0)
    slow = replace(machine, kinds={"one": replace(machine.kinds["one"], panel=constant(0.5))})
    assert expected(slow, one).rate < 0.9 * free


def test_a_narrow_product_delays_the_panel() -> None:
    machine = alike(5.0, threads=2)
    kind = machine.kinds["one"]

    def rate(narrow: float | None) -> float:
        made = replace(kind, narrow=constant(narrow) if narrow else None)
        return expected(replace(machine, kinds={"one": made}), run(2000, 100, 1, 2)).rate

    # The product is of two threads, the narrow one of one thread.
    assert rate(2.5) == pytest.approx(rate(None), rel=1e-9)
    assert rate(1.0) < 0.98 * rate(None) and rate(1.0) > 0.7 * rate(None)


def test_a_device_with_the_matrix_hides_panel_and_bus() -> None:
    kind = Kind(product=constant(10), panel=constant(5), solve=constant(1e6), resident=True)
    one = run(4000, 200)

    def rate(panel: float, bus: float) -> float:
        made = replace(kind, panel=constant(panel), bus=bus)
        return expected(Machine("test", "a test", {"one": made}, ()), one).rate

    alone = replace(kind, resident=False)
    assert rate(5, inf) > 1.05 * expected(Machine("test", "a test", {"one": alone}, ()), one).rate
    # The products of a step take 0.02 s for each 1000 rows of a panel and more, its way to the host and back 0.003 s.
    assert rate(5, 1000) == pytest.approx(rate(5, inf), rel=0.02)
    assert rate(5, 20) < 0.8 * rate(5, inf) and rate(0.2, inf) < 0.8 * rate(5, inf)


def test_the_bus_is_read_as_the_program_reads_it() -> None:
    assert bus_of("emulated:rate=20,bus=1e3") == 1e6 and bus_of("emulated:bus=0.5,memory=1") == 500
    assert bus_of("emulated:rate=20") == inf and bus_of("emulated:rate=20,bus=0") == inf


def test_the_form_is_kept_in_a_file(tmp_path: Path) -> None:
    kind = replace(alike(5.0).kinds["one"], resident=True, bus=4000.0)
    path = tmp_path / "machine.toml"
    machine = Machine("test", "a test", {"one": kind}, (run(1000, 100),))
    path.write_text(text_of(machine), encoding="utf-8")
    assert machine_of(path, []).kinds["one"] == kind
    path.write_text(text_of(machine).replace('form = "resident"', 'form = "nowhere"'), encoding="utf-8")
    with pytest.raises(UserError, match="form is 'host' or 'resident', not 'nowhere'"):
        machine_of(path, [])


def test_the_slowest_kind_decides() -> None:
    fast, slow = alike(5.0).kinds["one"], alike(2.0).kinds["one"]
    machine = Machine("test", "a test", {"fast": fast, "slow": slow}, ())
    both, only = (expected(machine, replace(run(1000, 50, 2, 2), kinds=kinds)).rate for kinds in MIXES)
    assert both == only


MIXES = (("fast", "slow"), ("slow",))


def test_rates_between_points_and_beyond() -> None:
    rate = Rate(((100.0, 4.0), (400.0, 6.0)))
    assert [rate.at(rows) for rows in (1, 100, 200, 400, 9999)] == [4, 4, pytest.approx(5), 6, 6]


def test_variation_makes_a_range_that_is_the_same_each_time() -> None:
    kind = alike(5.0).kinds["one"]
    varied = replace(kind, product=replace(kind.product, variation=(0.8, 1.0, 1.2)))
    machine = Machine("test", "a test", {"one": varied}, ())
    found = expected(machine, run(2000, 50, 2, 2))
    assert found.low < found.rate < found.high
    assert found == expected(machine, run(2000, 50, 2, 2))
    # Several ranks wait for the slowest of them.
    assert found.high < expected(alike(5.0), run(2000, 50, 2, 2)).rate


def test_a_machine_that_is_written_is_read(tmp_path: Path) -> None:
    first, second = tmp_path / "machine.toml", tmp_path / "again.toml"
    first.write_text(SMALL)
    machine = machine_of(first, [])
    second.write_text(text_of(machine))
    assert machine_of(second, []) == machine


def test_settings_change_the_runs(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(SMALL)
    machine = machine_of(file, ["n=2000", "grid=2x2", "link_rate=50"])
    assert (machine.runs[0].n, machine.runs[0].rows, machine.runs[0].known, machine.link_rate) == (2000, 2, None, 50)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (SMALL.replace("panel = 2", ""), "needs 'product' and 'panel'"),
        (SMALL.replace("panel", "pannel"), "did you mean 'panel'|needs 'product'"),
        (SMALL.replace("link_rate", "link_rates"), "link_rates' is unknown"),
        (SMALL.replace("[[100, 4], [1000, 5]]", "[[1000, 5], [100, 4]]"), "ascending order of rows"),
        (SMALL.replace("product = {", "product = { of = 1,"), "'of' is unknown here"),
        (SMALL.replace('"1x2"', '"1by2"'), "a grid of process rows x columns"),
        (SMALL.replace('["slow"]', '["fast"]'), "there is no kind 'fast'"),
        (SMALL.replace("n = 1000", "n = 0"), "n is a whole number"),
        (SMALL.replace("link_rate = 100", "link_rate = -1"), "link_rate is a number above 0"),
        (SMALL.replace("[[runs]]", "[runs]"), "a list of tables"),
        ("name = 1", "name is a text|missing"),
        ("name =", "TOML"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, wrong: str, word: str) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(wrong)
    with pytest.raises(UserError) as problem:
        machine_of(file, [])
    assert any(each in problem.value.sentence for each in word.split("|")), problem.value.sentence


@pytest.mark.parametrize(
    ("setting", "word"), [("m=3", "there is no parameter 'm'"), ("n", "NAME=VALUE"), ("grid=2", "grid is a text")]
)
def test_a_wrong_setting_is_named(setting: str, word: str) -> None:
    with pytest.raises(UserError) as problem:
        machine_of(None, [setting])
    assert word in problem.value.sentence


def test_the_command_predicts_a_machine_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(SMALL)
    ended = CliRunner().invoke(app, ["predict", "linpack", "--machine", str(file), "--output", str(tmp_path)])
    assert ended.exit_code == 0, ended.output
    assert "Linpack on two nodes" in ended.stdout and "9 GFLOP/s" in ended.stdout
    assert "<svg" in (tmp_path / "index.html").read_text()
