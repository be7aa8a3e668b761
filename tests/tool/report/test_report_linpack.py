"""Linpack in the report: the rate over N, and what is changed one thing at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kumiki.report as report
import pytest
from kumiki.linpack.model import USUAL, has_settings
from kumiki.predict.linpack import measured
from kumiki.predict.linpack.description import machine_of
from kumiki.report.advisers.linpack import advise
from kumiki.report.analysis import linpack as rows_of
from kumiki.report.analysis.model import Results
from kumiki.report.sections.linpack import linpack
from kumiki.report.tables import linpack as tables
from kumiki.suites.linpack import BLOCK, OFFLOAD, ONE_SLOW, RESIDENT, SUITE
from kumiki.suites.model import Grid
from synthetic import Host


def solver() -> Host:
    """What the suite plans for four cores, where small N, other blocks than 192 and a wrong share are slower."""
    host = Host(suites=(), cores=4, noise=0.0)
    for point in SUITE.points(Grid(4)):
        if point.metric == "linpack.product":
            continue
        given = dict(point.parameters)
        size = given.pop("n")  # which add() would take for the number of samples
        rate = 100.0 * (1 - 200 / int(size)) - abs(int(given["block"]) - BLOCK) / 10
        rate *= 0.8 if str(given["weights"]).startswith("2") else 1.0
        rate *= (
            CHANGED.get(str(given["look_ahead"]), 1.0) * int(given["block"]) / BLOCK if given["block"] == 64 else 1.0
        )
        crowded = int(given["ranks"]) * int(given["threads"]) > 4
        rate *= 0.1 if crowded and given["wait"] == "spin" else 0.9 if crowded else 1.0
        if given["cores"] == ONE_SLOW:
            rate *= 0.5 if given["weights"] == "equal" and given["ranks"] == 4 else 0.8
        if given["device"] != "none":
            rate += 40.0 if int(size) > 1000 else -1.0
        rate = {"2x1+1": 44.0, "1x2+1": 33.0}.get(str(given["mix"]), rate)
        if point.metric == "dgemm.rate":
            rate = 105.0 if given["cores"] == ONE_SLOW else 60.0 if given["device"] == "none" else 100.0
            rate = 120.0 if given["threads"] != 2 and given["cores"] != ONE_SLOW else rate
        row = host.add("linpack", point.metric, point.implementation, "GFLOP/s", rate, better="higher", **given)
        row["parameters"]["n"] = size
        row["oversubscribed"] = crowded
    return host


CHANGED = {"chopped": 0.7, "none": 0.8, "thread": 0.99}


def test_the_rate_over_n_is_that_of_the_usual_setting() -> None:
    found = rows_of.by_size(Results.parse(solver().results))
    assert set(found) == {"1 x 4", "4 x 1", "1 x 2"}
    assert set(rows_of.full_places(Results.parse(solver().results))) == {"1 x 4", "4 x 1"}
    assert all(list(rows) == [500, 1000, 2000, 4000] for rows in found.values())
    assert found["1 x 4"][4000].value == pytest.approx(95.0)
    table = tables.over_size(Results.parse(solver().results))
    assert table is not None and [line.head for line in table.lines][-1] == "DGEMM"
    assert table.lines[-1].cells[0].text.startswith("120")


def test_each_study_changes_one_thing() -> None:
    sets = list(rows_of.studies(Results.parse(solver().results), (*rows_of.SHARES, *rows_of.TECHNIQUES)))
    found = dict(sets)
    assert [row.count("block") for row in found["block"]] == [32, 64, 128, 192, 256, 384]
    assert [row.text("grid") for row in found["grid"]] == ["1x4", "2x2", "4x1"]
    assert [row.text("weights") for row in found["weights"]] == ["2,1,1,1", "equal", "measured"]
    assert [row.text("look_ahead") for row in found["look_ahead"]] == ["chopped", "none", "thread", "tiles"]
    assert sorted(row.ranks for name, rows in sets if name == "wait" for row in rows) == [4] * 4 + [8] * 4
    assert sorted(rows[0].count("block") for name, rows in sets if name == "look_ahead") == [64, 192]
    for name, rows in sets:
        rest = [{key: value for key, value in row.parameters.items() if key != name} for row in rows]
        assert all(each == rest[0] for each in rest)


def test_the_share_of_the_best_is_said() -> None:
    table = tables.changes(Results.parse(solver().results), rows_of.SHARES)
    assert table is not None
    cells = {line.head: line.cells for line in table.lines}
    assert cells["block 192"][2].text == "100 %" and cells["block 192"][2].best
    assert cells["weights 2,1,1,1"][2].text == "80 %" and not cells["weights 2,1,1,1"][2].best
    assert cells["weights equal"][0].text == "4 x 1, N = 2000, block 192"


def test_unequal_cores_are_beside_the_sum_of_their_products() -> None:
    table = tables.unequal(Results.parse(solver().results))
    assert table is not None
    assert {line.head: line.cells[2].text for line in table.lines} == {
        "equal shares": "43 %",
        "shares by speed": "69 %",
        "process mix": "62 %",
        "threads that take tiles": "69 %",
        "sum of the DGEMM rates": "–",
    }
    assert table.lines[2].cells[0].text == "7 x 1, N = 2000"


def test_a_device_pays_from_the_size_where_it_is_faster() -> None:
    found = rows_of.with_device(Results.parse(solver().results))
    assert found is not None and found.place == "1 x 2" and found.device.startswith("emulated:")
    assert list(found.together) == [500, 1000, 2000, 4000] and found.pays_from == 2000
    assert [(alone.value, both.value) for alone, both in found.products.values()] == [(60.0, 100.0)] * 4
    resident = rows_of.with_device(Results.parse(solver().results), RESIDENT)
    assert resident is not None and list(resident.together) == [500, 1000, 2000]
    table = tables.device(Results.parse(solver().results))
    assert table is not None and [line.cells[2].text for line in table.lines] == ["0.98", "0.99", "1.44", "1.42"]


def test_the_advice_follows_the_figures() -> None:
    host = solver()
    text = " ".join(piece.text for piece in advise(Results.parse(host.results)))
    assert "The best rate of Linpack is 95.0 GFLOP/s, with N = 4000" in text
    assert "On cores of different speeds use shares by speed (`--weights measured`): 1.60 times" in text
    assert "The device pays from N = 2000 on" in text
    assert "Never let more ranks than cores wait with `--wait spin`" in text
    assert "Tiles, the usual one, is faster than chopped and none" in text
    for row in host.rows:
        if row["parameters"].get("cores") == ONE_SLOW and row["metric"] == "dgemm.rate":
            row["median"], row["ci95"] = 20.0, [20.0, 20.0]
    text = " ".join(piece.text for piece in advise(Results.parse(host.results)))
    assert "is above this sum cannot be" in text and "On cores of different speeds use" not in text
    for row in host.rows:
        if row["parameters"].get("cores") == ONE_SLOW or row["parameters"].get("wait") not in (None, "adaptive"):
            row["median"], row["ci95"] = 50.0, [50.0, 50.0]
        if row["parameters"].get("device") not in (None, "none"):
            row["median"], row["ci95"] = 1.0, [1.0, 1.0]
    text = " ".join(piece.text for piece in advise(Results.parse(host.results)))
    assert "These samples do not show that any way is better than equal shares" in text
    assert "The device does not pay at any N" in text and "--wait spin" not in text


def test_reference_hpl_is_beside_it() -> None:
    host = solver()
    for size in (2000, 4000):
        row = host.add("linpack", "linpack.rate", "hpl", "GFLOP/s", 76.0, better="higher", ranks=4, threads=1)
        row["parameters"]["n"] = size
    results = Results.parse(host.results)
    table = tables.over_size(results)
    assert table is not None and table.columns[-1].title == "reference HPL"
    assert [line.cells[-1].text for line in table.lines] == ["–", "–", "76.0 GFLOP/s", "76.0 GFLOP/s", "–"]
    assert any("has 76.0 GFLOP/s with N = 4000, Kumiki 95.0 GFLOP/s" in piece.text for piece in advise(results))
    assert any("1.25 times its rate" in piece.text for piece in advise(results))


def test_rows_of_an_older_evaluation_are_of_the_usual_setting() -> None:
    host = solver()
    host.rows = [row for row in host.rows if usual_row(row)]
    for row in host.rows:
        for name in USUAL:
            row["parameters"].pop(name)
    results = Results.parse(host.results)
    assert len(rows_of.full_places(results)["1 x 4"]) == 4 and rows_of.bounds(results)
    assert rows_of.with_device(results) is None and rows_of.unequal(results) is None


def usual_row(row: dict[str, Any]) -> bool:
    return has_settings(row["parameters"])


def test_the_section_has_its_figures_and_tables(tmp_path: Path) -> None:
    section = linpack(Results.parse(solver().results))
    exhibits = section.exhibits
    assert [exhibit.kind for exhibit in exhibits] == ["Figure", "Table", "Figure", *["Table"] * 5]
    table = tables.mixes(Results.parse(solver().results))
    assert table is not None and {line.head: line.cells[1].text for line in table.lines} == {
        "1 x 2, all share the device": "100 %",
        "mix 2x1+1": "34 %",
        "mix 1x2+1": "25 %",
    }
    assert section.intro.startswith("The best rate of Linpack is 95.0 GFLOP/s")
    legend = [key.text for key in exhibits[0].picture.legend] if exhibits[0].picture else []
    assert "bound: DGEMM at the shape of an update" in legend and "4 x 1 ranks x threads" in legend
    page = report.write(solver().save(tmp_path)).read_text(encoding="utf-8")
    assert "The rate of Linpack over N" in page and "the TSUBAME paper" in page


def test_without_rows_there_is_nothing() -> None:
    results = Results.parse(Host(suites=("memory",)).results)
    assert not linpack(results).exhibits and tables.changes(results, rows_of.SHARES) is None
    assert tables.unequal(results) is None and tables.device(results) is None and advise(results) == []


def with_pieces() -> Host:
    """The same, with the parts of a step; of the place 4 x 1 the panel was not measured."""
    host = solver()
    rates = {
        "linpack.product": 25.0,
        "linpack.narrow": 20.0,
        "linpack.panel": 10.0,
        "linpack.exchange": 8.0,
        "linpack.solution": 2.0,
    }
    for point in SUITE.points(Grid(4)):
        if point.metric != "linpack.product":
            continue
        for metric, rate in rates.items():
            given = dict(point.parameters)
            size = int(given.pop("n"))
            if metric != "linpack.panel" or given["ranks"] == 1:
                value = rate * (4 if given["ranks"] == 1 else 1) * (1 - 50 / size)
                row = host.add("linpack", metric, "kumiki", "GFLOP/s", value, better="higher", **given)
                row["parameters"]["n"] = size
    return host


def test_an_evaluation_describes_its_machine() -> None:
    results = Results.parse(with_pieces().results)
    machine = measured.machine_of_rows(results.rows, {})
    assert machine is not None
    places = ["1x1 ranks x 2, block 192", "1x1 ranks x 4, block 192"]
    device = "emulated:rate=20,bus=4"
    with_device = [f"{places[0]}, with {device}, {form}" for form in ("offload", "resident")]
    assert sorted(machine.kinds) == [places[0], *with_device, places[1]]
    kind, offload, resident = (machine.kinds[name] for name in (places[1], *with_device))
    assert not offload.resident and offload.panel == machine.kinds[places[0]].panel
    assert resident.resident and resident.bus == 4000 and resident.solve.at(2000) == 50
    assert kind.threads == 4 and len(kind.product.points) == 5
    assert kind.narrow is not None and kind.narrow.at(4000) == pytest.approx(20.0 * 4 * (1 - 50 / 4000))
    assert kind.product.at(4000) > kind.product.at(500) and kind.exchange is not None
    runs = {name: [run.n for run in machine.runs if run.kinds == (name,)] for name in machine.kinds}
    assert runs == {
        places[0]: [500, 1000, 2000, 4000],
        places[1]: [500, 1000, 2000, 4000],
        with_device[0]: [500, 1000, 2000, 4000],
        with_device[1]: [500, 1000, 2000],
    }
    assert {run.known for run in machine.runs if run.kinds == (places[1],)} == {60.0, 80.0, 90.0, 95.0}
    assert measured.machine_of_rows(Results.parse(solver().results).rows, {}) is None


def test_the_variation_is_that_of_the_largest_product() -> None:
    results = Results.parse(with_pieces().results)
    rows = [row for row in results.rows if row.metric == "linpack.product" and row.threads == 4]
    largest = max(rows, key=lambda row: row.count("n"))
    samples = {largest.id: [30.0, 15.0]}
    machine = measured.machine_of_rows(results.rows, samples)
    assert machine is not None
    # Two products take 1/15 + 1/30 for two units of work.
    product = machine.kinds["1x1 ranks x 4, block 192"].product
    assert product.at(4000) == pytest.approx(20) and product.variation == pytest.approx((4 / 3, 2 / 3))


def test_the_report_draws_the_prediction_and_leaves_the_machine(tmp_path: Path) -> None:
    host = with_pieces()
    predicted = rows_of.predictions(Results.parse(host.results))
    assert sorted(predicted) == ["1 x 2", "1 x 4"] and list(predicted["1 x 4"]) == [500, 1000, 2000, 4000]
    for form, sizes in ((OFFLOAD, [500, 1000, 2000, 4000]), (RESIDENT, [500, 1000, 2000])):
        assert list(rows_of.device_predictions(Results.parse(host.results), form)) == sizes
    page = report.write(host.save(tmp_path)).read_text(encoding="utf-8")
    assert "prediction of the model" in page
    path = measured.write(tmp_path)
    assert path == tmp_path / "machine.toml"
    assert len(machine_of(path, []).runs) == 15


@pytest.mark.parametrize(("least", "grows"), [(60.0, True), (79.0, False)])
def test_a_rate_grows_only_if_the_largest_n_is_better_than_the_next(least: float, grows: bool) -> None:
    host = Host(suites=(), noise=0.02)
    usual: dict[str, Any] = {**USUAL, "block": BLOCK, "weights": "equal", "ranks": 2, "threads": 1, "grid": "1x2"}
    for size, rate in ((2000, least), (4000, 80.0)):
        row = host.add("linpack", "linpack.rate", "kumiki", "GFLOP/s", rate, better="higher", **usual)
        row["parameters"]["n"] = size
    host.add("linpack", "dgemm.rate", "bound", "GFLOP/s", 100.0, better="higher", **usual)
    texts = [piece.text for piece in advise(Results.parse(host.results))]
    assert any("still grows with N" in text for text in texts) is grows, texts
