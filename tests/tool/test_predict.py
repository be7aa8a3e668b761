"""`kumiki predict`: the Maestro model compared with closed forms and published figures, and the behaviour of the
command.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from kumiki.command import app
from kumiki.errors import UserError
from kumiki.predict.maestro import experiments as tried
from kumiki.predict.maestro.machine import Machine
from kumiki.predict.maestro.model import predict
from kumiki.predict.maestro.network import pieces
from kumiki.predict.maestro.transfer import Pair
from kumiki.predict.parameters import changed, described
from kumiki.predict.prediction import Prediction
from typer.testing import CliRunner

MACHINE = Machine()
SMALL = ("--set", "long_message=16384")
"""Parameters that make the command fast."""


@pytest.fixture(scope="module")
def prediction() -> Prediction:
    return predict(MACHINE)


@pytest.mark.parametrize("burst", [1, 8, 64])
@pytest.mark.parametrize("both_ways", [False, True])
def test_a_stream_gets_what_arbitration_leaves(burst: int, both_ways: bool) -> None:
    machine = replace(MACHINE, burst=burst)
    found = tried.stream_efficiency(machine, both_ways)
    assert found == pytest.approx(machine.link_efficiency, rel=0.01)


def test_a_full_buffer_shortens_bursts() -> None:
    """To the available space: of four places the last ones are not free again when the next burst is requested."""
    found = tried.stream_efficiency(replace(MACHINE, burst=64, buffer=4 * MACHINE.packet), both_ways=False)
    two, four = (replace(MACHINE, burst=burst).link_efficiency for burst in (2, 4))
    assert two < found < four


def test_a_short_raw_transfer_takes_the_sum_of_its_stages() -> None:
    """Every stage is passed once, by a header of one packet and data in the same packet: nothing can overlap."""
    machine = replace(MACHINE, header=8)
    links = 2 * (machine.arbitration + machine.packet_time)
    switch = machine.route + machine.packet / machine.switch_rate
    there = 2 * machine.ni_start + 2 * machine.packet / machine.pci_rate + links + switch
    confirmation = machine.packet / machine.pci_rate + links + switch
    assert Pair(machine).raw(4) == pytest.approx(there + confirmation)


def test_a_round_trip_is_two_messages_of_one_fragment() -> None:
    machine = replace(MACHINE, header=8)
    copies = 2 * 4 / machine.copy_rate
    links = 2 * (machine.arbitration + machine.packet_time)
    switch = machine.route + machine.packet / machine.switch_rate
    network = 2 * machine.ni_start + 2 * machine.packet / machine.pci_rate + links + switch
    assert Pair(machine).round_trip(4) == pytest.approx(2 * (2 * machine.pc_start + copies + network))


def test_nothing_is_faster_than_the_link() -> None:
    for size in (64, 4096, 2**16):
        assert size / tried.raw(MACHINE, size) < MACHINE.link_rate * MACHINE.link_efficiency
        assert size / tried.library(MACHINE, size) < size / tried.raw(MACHINE, size)


def test_published_figures_come_out(prediction: Prediction) -> None:
    assert [check.published for check in prediction.checks] == [30, 96, 48, 80]
    for check in prediction.checks:
        assert abs(check.deviation) < 0.03, check
    assert any(not check.chosen for check in prediction.checks), "one figure must test the model"


def test_the_best_fragment_lies_within(prediction: Prediction) -> None:
    chart = next(chart for chart in prediction.charts if chart.name == "lengths")
    lengths, rates = zip(*chart.curves[0].points, strict=True)
    best = rates.index(max(rates))
    assert 0 < best < len(lengths) - 1
    assert list(rates[: best + 1]) == sorted(rates[: best + 1])
    assert list(rates[best:]) == sorted(rates[best:], reverse=True)


def test_bursts_and_forwarding_on_the_header_pay(prediction: Prediction) -> None:
    charts = {chart.name: {curve.name: dict(curve.points) for curve in chart.curves} for chart in prediction.charts}
    basic, forwarding = charts["basic"], charts["forwarding"]
    assert basic["library"][65536] > 2 * basic["library, no burst"][65536]
    assert basic["raw network"][65536] > 2 * basic["raw network, no burst"][65536]
    # A fragment that is stored first crosses the second link and the switch only after the whole first link.
    longer = forwarding["stores and forwards"][4096] - forwarding["forwards on the header"][4096]
    assert longer > 0.9 * 4096 / MACHINE.link_rate


def test_pieces_begin_with_one_and_are_all() -> None:
    assert list(pieces(1)) == [1]
    assert list(pieces(7)) == [1, 1, 2, 3]
    assert sum(pieces(1000)) == 1000


def test_parameters_come_from_a_file_and_then_from_settings(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("burst = 4\nlink_rate = 125\n")
    machine = changed(MACHINE, file, ["burst=8"])
    assert (machine.burst, machine.link_rate, machine.packet) == (8, 125.0, 16)
    assert {each.name for each in described(machine) if each.origin == "set by you"} == {"burst", "link_rate"}


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ("bust=4", "did you mean 'burst'?"),
        ("burst", "NAME=VALUE"),
        ("burst=0", "above 0"),
        ("burst=1.5", "whole number"),
        ("burst=many", "whole number"),
        ("fragment=1", "at least 64"),
        ("long_message=1000000000000", "at most"),
        ("link_rate=nan", "a number"),
        ("link_rate=-1", "above 0"),
        ("link_rate=inf", "a number"),
    ],
)
def test_a_wrong_setting_is_named(setting: str, word: str) -> None:
    with pytest.raises(UserError, match="set") as problem:
        changed(MACHINE, None, [setting])
    assert word in problem.value.sentence


@pytest.mark.parametrize("content", ["{}", "[1]", "burst = true", "burst =", "burst = 'x'", "no = 1"])
def test_a_wrong_file_is_named(tmp_path: Path, content: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(content)
    with pytest.raises(UserError, match=r"mine\.toml"):
        changed(MACHINE, file, [])
    with pytest.raises(UserError, match=r"none\.toml"):
        changed(MACHINE, tmp_path / "none.toml", [])


def test_the_command_prints_json_and_leaves_a_page(tmp_path: Path) -> None:
    runner = CliRunner()
    command = ["predict", "maestro", *SMALL, "--format", "json", "--output", str(tmp_path / "page")]
    ended = runner.invoke(app, command)
    assert ended.exit_code == 0, ended.output
    said = json.loads(ended.stdout)
    assert said["parameters"]["long_message"] == {"value": 16384, "unit": "B", "origin": "set by you"}
    page = (tmp_path / "page" / "index.html").read_text()
    assert page.count("<svg") > 6 and "Known and predicted" in page
    assert not {"NaN", "None"} & set(page.split())


def test_the_command_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    runner = CliRunner()
    (tmp_path / "index.html").write_text("mine")
    for arguments, word in (
        (["maestra"], "did you mean 'maestro'?"),
        (["maestro", "--output", str(tmp_path)], "not a page of kumiki predict"),
    ):
        ended = runner.invoke(app, ["predict", *arguments])
        assert isinstance(ended.exception, UserError) and word in ended.exception.sentence
    assert (tmp_path / "index.html").read_text() == "mine"
    assert runner.invoke(app, ["predict", "maestro", "--format", "csv"]).exit_code == 2
