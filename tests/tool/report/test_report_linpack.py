"""Linpack in the report: the rate over N, and what is changed one thing at a time."""

from __future__ import annotations

from pathlib import Path

import kumiki.report as report
import pytest
from kumiki.predict.linpack import measured
from kumiki.predict.linpack.description import machine_of
from kumiki.report.analysis import linpack as rows_of
from kumiki.report.analysis.model import Results
from kumiki.report.sections.linpack import linpack
from kumiki.report.tables import linpack as tables
from kumiki.suites.linpack import BLOCK, SUITE
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
        rate = 120.0 if point.metric == "dgemm.rate" else rate
        row = host.add("linpack", point.metric, point.implementation, "GFLOP/s", rate, better="higher", **given)
        row["parameters"]["n"] = size
    return host


def test_the_rate_over_n_is_that_of_the_usual_setting() -> None:
    found = rows_of.by_size(Results.parse(solver().results))
    assert list(found) == ["1 x 4", "4 x 1"] or list(found) == ["4 x 1", "1 x 4"]
    assert all(list(rows) == [500, 1000, 2000, 4000] for rows in found.values())
    assert found["1 x 4"][4000].value == pytest.approx(95.0)
    table = tables.over_size(Results.parse(solver().results))
    assert table is not None and [line.head for line in table.lines][-1] == "DGEMM"
    assert table.lines[-1].cells[0].text.startswith("120")


def test_each_study_changes_one_thing() -> None:
    found = rows_of.studies(Results.parse(solver().results))
    assert [row.count("block") for row in found["block"]] == [32, 64, 128, 192, 256, 384]
    assert [row.text("grid") for row in found["grid"]] == ["1x4", "2x2", "4x1"]
    assert [row.text("weights") for row in found["weights"]] == ["2,1,1,1", "equal", "measured"]
    for name, rows in found.items():
        rest = [{key: value for key, value in row.parameters.items() if key != name} for row in rows]
        assert all(each == rest[0] for each in rest)


def test_the_share_of_the_best_is_said() -> None:
    table = tables.changes(Results.parse(solver().results))
    assert table is not None
    cells = {line.head: line.cells for line in table.lines}
    assert cells["block 192"][2].text == "100 %" and cells["block 192"][2].best
    assert cells["weights 2,1,1,1"][2].text == "80 %" and not cells["weights 2,1,1,1"][2].best
    assert cells["weights equal"][0].text == "4 x 1, N = 2000"


def test_the_section_has_a_figure_and_two_tables(tmp_path: Path) -> None:
    exhibits = linpack(Results.parse(solver().results)).exhibits
    assert [exhibit.kind for exhibit in exhibits] == ["Figure", "Table", "Table"]
    legend = [key.text for key in exhibits[0].picture.legend] if exhibits[0].picture else []
    assert "bound: DGEMM at the shape of an update" in legend and "4 x 1 ranks x threads" in legend
    page = report.write(solver().save(tmp_path)).read_text(encoding="utf-8")
    assert "The rate of Linpack over N" in page and "the TSUBAME paper" in page


def test_without_rows_there_is_nothing() -> None:
    results = Results.parse(Host(suites=("memory",)).results)
    assert not linpack(results).exhibits and tables.changes(results) is None


def with_pieces() -> Host:
    """The same, with the parts of a step; of the place 4 x 1 the panel was not measured."""
    host = solver()
    rates = {"linpack.product": 25.0, "linpack.panel": 10.0, "linpack.exchange": 8.0, "linpack.solution": 2.0}
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
    (kind,) = machine.kinds.values()
    assert kind.threads == 4 and len(kind.product.points) == 5
    assert kind.product.at(4000) > kind.product.at(500) and kind.exchange is not None
    assert [run.n for run in machine.runs] == [500, 1000, 2000, 4000]
    assert {run.known for run in machine.runs} == {60.0, 80.0, 90.0, 95.0}
    assert measured.machine_of_rows(Results.parse(solver().results).rows, {}) is None


def test_the_variation_is_that_of_the_largest_product() -> None:
    results = Results.parse(with_pieces().results)
    rows = [row for row in results.rows if row.metric == "linpack.product" and row.ranks == 1]
    largest = max(rows, key=lambda row: row.count("n"))
    samples = {largest.id: [30.0, 15.0]}
    machine = measured.machine_of_rows(results.rows, samples)
    assert machine is not None
    # Two products take 1/15 + 1/30 for two units of work.
    product = next(iter(machine.kinds.values())).product
    assert product.at(4000) == pytest.approx(20) and product.variation == pytest.approx((4 / 3, 2 / 3))


def test_the_report_draws_the_prediction_and_leaves_the_machine(tmp_path: Path) -> None:
    host = with_pieces()
    predicted = rows_of.predictions(Results.parse(host.results))
    assert list(predicted) == ["1 x 4"] and list(predicted["1 x 4"]) == [500, 1000, 2000, 4000]
    page = report.write(host.save(tmp_path)).read_text(encoding="utf-8")
    assert "prediction of the model" in page
    path = measured.write(tmp_path)
    assert path == tmp_path / "machine.toml"
    assert len(machine_of(path, []).runs) == 4
