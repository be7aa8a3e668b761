"""`kumiki compare`: what changed, whether more than by chance, and the exit code for a regression."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_native import Native
from hypothesis import given
from hypothesis import strategies as st
from kumiki.comparison.compare import Side, compare
from kumiki.comparison.platforms import labels
from kumiki.machine import environment
from kumiki.machine.native import Native as NativePart
from kumiki.machine.topology import Machine
from kumiki.results import files
from kumiki.results.row import Row, parse_row

Figures = Mapping[tuple[str, str, int], Sequence[float]]
"""Samples by metric, direction and ranks."""
HERE = {**environment.describe(Machine(), NativePart(Path("/nowhere"))), "load": {"start": 0.0, "during": 0.0}}
STEADY = [1.00, 1.01, 0.99, 1.02, 0.98, 1.00, 1.01, 0.99]


def side(figures: Figures) -> Side:
    """A result with these figures."""
    rows, samples = [], {}
    for number, ((metric, better, ranks), values) in enumerate(figures.items()):
        line = {
            "metric": metric,
            "implementation": "kumiki",
            "parameters": {"ranks": ranks},
            "unit": "us",
            "better": better,
            "samples": list(values),
        }
        rows.append(Row.measured_by(parse_row(json.dumps(line)), "memory", number).as_dict())
        samples[str(number)] = list(values)
    content = {
        "schema_version": 1,
        "complete": True,
        "seed": 1,
        "arguments": {"suites": ["memory"], "quick": False, "ranks": None, "threads": None},
        "environment": dict(HERE),
        "points": [],
        "rows": rows,
    }
    files.check(content)
    return Side(content, samples)


def save(folder: Path, one: Side, with_samples: bool = True) -> None:
    folder.mkdir()
    (folder / "results.json").write_text(json.dumps(one.content))
    if with_samples:
        (folder / "samples.json").write_text(json.dumps(one.samples))


def scaled(values: Sequence[float], factor: float) -> list[float]:
    return [value * factor for value in values]


BEFORE: Figures = {
    ("put.latency", "lower", 2): STEADY,
    ("memory.copy", "higher", 2): STEADY,
    ("cg.time", "lower", 2): STEADY,
}


@pytest.mark.parametrize(
    ("metric", "better", "factor", "code"),
    [
        ("put.latency", "lower", 1.2, 4),
        ("put.latency", "lower", 1.08, 0),  # significant, but smaller than the given percentage
        ("put.latency", "lower", 0.5, 0),
        ("memory.copy", "higher", 0.8, 4),
        ("memory.copy", "higher", 1.5, 0),
    ],
)
def test_regression_has_its_exit_code(native: Native, metric: str, better: str, factor: float, code: int) -> None:
    save(native.prefix / "a", side(BEFORE))
    save(native.prefix / "b", side({**BEFORE, (metric, better, 2): scaled(STEADY, factor)}))
    ended = native.kumiki("compare", "a", "b/results.json", "--fail-if-slower", "10")
    assert ended.returncode == code, ended.stderr
    assert metric in ended.stdout
    assert ("significantly worse" in ended.stderr) is (code == 4)


def test_change_by_chance_is_no_regression(native: Native) -> None:
    noisy = [1.0, 5.0, 2.0, 9.0, 0.5, 3.0, 1.5, 7.0]
    save(native.prefix / "a", side({("put.latency", "lower", 2): noisy}))
    save(native.prefix / "b", side({("put.latency", "lower", 2): scaled(noisy, 1.3)}))
    ended = native.kumiki("compare", "a", "b", "--fail-if-slower", "10")
    assert ended.returncode == 0
    assert "1 of 1 figures changed by no more than chance" in ended.stdout


def test_rows_on_one_side_and_other_machines_are_told(native: Native) -> None:
    other = side({("put.latency", "lower", 2): STEADY, ("put.latency", "lower", 4): STEADY})
    other.content["environment"]["cpu"] = {**HERE["cpu"], "model": "Z80"}
    save(native.prefix / "a", side(BEFORE))
    save(native.prefix / "b", other)
    ended = native.kumiki("compare", "a", "b")
    assert ended.returncode == 0
    assert "Only in the first (2): memory.copy kumiki (ranks 2); cg.time kumiki (ranks 2)" in ended.stdout
    assert "Only in the second (1): put.latency kumiki (ranks 4)" in ended.stdout
    assert "not measured on the same machine" in ended.stderr and "Z80" in ended.stderr
    same = native.kumiki("compare", "a", "a")
    assert same.stderr == ""


def test_raw_samples_are_not_needed(native: Native) -> None:
    save(native.prefix / "a", side(BEFORE), with_samples=False)
    save(native.prefix / "b", side({**BEFORE, ("cg.time", "lower", 2): scaled(STEADY, 1.5)}))
    ended = native.kumiki("compare", "a", "b", "--fail-if-slower", "10")
    assert ended.returncode == 4
    assert "1.500" in ended.stdout and "1.441 to 1.561" in ended.stdout


def test_few_samples_carry_no_verdict() -> None:
    (change,) = compare(side({("x.y", "lower", 1): [1.0] * 5}), side({("x.y", "lower", 1): [2.0] * 5})).changes
    assert change.verdict == "open" and not change.significant and not change.regression(0)


def test_what_two_suites_have_measured_are_two_figures() -> None:
    one = side({("x.y", "lower", 1): STEADY})
    one.content["rows"].append({**one.content["rows"][0], "id": 1, "suite": "shared"})
    assert [change.before.suite for change in compare(one, one).changes] == ["memory", "shared"]


def own(words: Sequence[str], **more: Any) -> Side:
    """A result of the user's own program."""
    one = side({("command.time", "lower", 1): STEADY})
    command = {
        "words": list(words),
        "sequential": None,
        "metric": None,
        "scaling": "strong",
        "size": None,
        "power": 1.0,
    }
    one.content["arguments"].update(suites=["command"], command={**command, "repeats": 8, **more})
    files.check(one.content)
    return one


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (own(["sleep", "0.1"]), ""),
        (own(["sleep", "0.2"]), "the first result is of `sleep 0.1`, the second of `sleep 0.2`"),
        (own(["sleep", "0.1"], size=7), "the size is not the same (none, 7)"),
        (own(["sleep", "0.1"], scaling="both"), "the scaling is not the same (strong, both)"),
    ],
)
def test_different_programs_are_told_before_any_verdict(native: Native, other: Side, words: str) -> None:
    save(native.prefix / "a", own(["sleep", "0.1"]))
    save(native.prefix / "b", other)
    ended = native.kumiki("compare", "a", "b")
    assert ended.returncode == 0 and words in ended.stderr
    assert ended.stderr.count("warning") == bool(words), ended.stderr


def test_other_load_is_carried_into_the_comparison() -> None:
    quiet, busy = side(BEFORE), side(BEFORE)
    busy.content["environment"]["load"] = {"start": 0.0, "during": 1.5}
    (sentence,) = compare(quiet, busy).subject_differences
    assert "the second ran beside other load (other processes kept 1.5 of" in sentence
    assert len(compare(busy, busy).subject_differences) == 2
    assert compare(quiet, quiet).subject_differences == ()


def test_json_names_regressions(native: Native) -> None:
    save(native.prefix / "a", side(BEFORE))
    save(native.prefix / "b", side({**BEFORE, ("cg.time", "lower", 2): scaled(STEADY, 1.5)}))
    ended = native.kumiki("compare", "a", "b", "--fail-if-slower", "10", "--format", "json")
    entries = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [entry["metric"] for entry in entries if entry["regression"]] == ["cg.time"]
    assert entries[0]["metric"] == "cg.time"
    assert entries[0]["worsening"] == pytest.approx(1.5)


def three(native: Native) -> None:
    """Three results of one machine: the second slower, the third without one of the figures."""
    save(native.prefix / "a", side(BEFORE))
    save(native.prefix / "b", side({**BEFORE, ("cg.time", "lower", 2): scaled(STEADY, 1.5)}))
    save(native.prefix / "c", side({name: values for name, values in BEFORE.items() if name[0] != "put.latency"}))


def test_three_results_stand_side_by_side(native: Native) -> None:
    three(native)
    ended = native.kumiki("compare", "a", "b/results.json", "c", "--output", "side")
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr
    lines = [line.split() for line in ended.stdout.splitlines()]
    assert ["a", "b", "c"] in lines
    assert ["copy", "1.00", "GB/s,", "1", "thread"] not in lines  # the rows are not real GB/s
    for label in "abc":
        assert f"Guidelines: {label}" in ended.stdout
    assert "Page: side/index.html" in ended.stdout
    page = (native.prefix / "side" / "index.html").read_text()
    assert "put.latency, Kumiki (ranks 2)" in page and "3 platforms side by side" in page


def test_others_are_regressions_against_the_first(native: Native) -> None:
    three(native)
    ended = native.kumiki("compare", "a", "b", "c", "--fail-if-slower", "10")
    assert ended.returncode == 4
    assert ended.stderr == "kumiki: 1 figures in b are significantly worse by more than 10 %\n"
    assert native.kumiki("compare", "b", "a", "c", "--fail-if-slower", "10").returncode == 0


def test_json_of_three_has_a_median_for_each(native: Native) -> None:
    three(native)
    ended = native.kumiki("compare", "a", "b", "c", "--fail-if-slower", "10", "--format", "json")
    entries = {entry["metric"]: entry for entry in map(json.loads, ended.stdout.splitlines())}
    assert entries["cg.time"]["medians"] == pytest.approx({"a": 1.0, "b": 1.5, "c": 1.0})
    assert entries["cg.time"]["regressions"] == ["b"]
    assert set(entries["put.latency"]["medians"]) == {"a", "b"}


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(2, "worse by 100.0 %"), (500, "worse by a factor of 500"), (0.25, "better by a factor of 4")],
)
def test_large_changes_are_told_as_factors(native: Native, factor: float, verdict: str) -> None:
    save(native.prefix / "a", side(BEFORE))
    save(native.prefix / "b", side({**BEFORE, ("cg.time", "lower", 2): scaled(STEADY, factor)}))
    assert verdict in native.kumiki("compare", "a", "b").stdout


def test_two_results_may_have_a_page_too(native: Native) -> None:
    three(native)
    ended = native.kumiki("compare", "a", "b", "--output", "side")
    assert "worse by 50.0 %" in ended.stdout and "Page: side/index.html" in ended.stdout
    again = native.kumiki("compare", "a", "b", "--output", "side", "--format", "json")
    assert all(json.loads(line) for line in again.stdout.splitlines()) and "Page:" in again.stderr


def test_page_takes_the_place_of_nothing_else(native: Native) -> None:
    three(native)
    (native.prefix / "mine").mkdir()
    (native.prefix / "mine" / "index.html").write_text("<p>mine")
    for folder, words in (
        ("a", "contains results itself"),
        ("mine", "not a page of kumiki compare"),
        ("a/x.json/y", "--output"),
    ):
        (native.prefix / "a" / "x.json").write_text("")
        ended = native.kumiki("compare", "a", "b", "c", "--output", folder)
        assert ended.returncode == 2, folder
        assert words in ended.stderr and "Traceback" not in ended.stderr
    assert (native.prefix / "mine" / "index.html").read_text() == "<p>mine"


def test_one_result_is_no_comparison(native: Native) -> None:
    three(native)
    ended = native.kumiki("compare", "a")
    assert ended.returncode == 2 and "two or more results" in ended.stderr


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (("slow", "fast/results.json"), ["slow", "fast"]),
        (("x/report", "y/report"), ["x/report", "y/report"]),
        (("x/a/r", "y/a/r", "z"), ["x/a/r", "y/a/r", "z"]),
        (("r", "r"), ["r", "r (2)"]),
    ],
)
def test_platforms_are_called_as_their_folders(tmp_path: Path, paths: tuple[str, ...], names: list[str]) -> None:
    found = labels([tmp_path / path for path in paths])
    assert [name.rpartition(tmp_path.name + "/")[2] for name in found] == names


def test_missing_or_foreign_file_is_a_sentence(native: Native) -> None:
    (native.prefix / "text").mkdir()
    (native.prefix / "text" / "results.json").write_bytes(b"\xff\xfe")
    for path in ("nowhere", "text", "nowhere/results.json"):
        ended = native.kumiki("compare", path, path)
        assert ended.returncode == 2, path
        assert "results.json" in ended.stderr and "Traceback" not in ended.stderr


FIGURES = st.dictionaries(
    st.tuples(st.sampled_from(["put.latency", "memory.copy"]), st.just("lower"), st.integers(1, 4)),
    st.lists(st.floats(0.1, 10), min_size=3, max_size=12),
    max_size=5,
)


@given(FIGURES, FIGURES)
def test_comparison_is_symmetric(first: Figures, second: Figures) -> None:
    forth, back = compare(side(first), side(second)), compare(side(second), side(first))
    assert len(forth.changes) == len(back.changes) == len(first.keys() & second.keys())
    mirrored = {
        change.before.parameters["ranks"]: change for change in back.changes if change.before.metric == "put.latency"
    }
    for change in forth.changes:
        if change.before.metric != "put.latency":
            continue
        other = mirrored[change.before.parameters["ranks"]]
        assert change.significant == other.significant
        assert {change.verdict, other.verdict} in ({"equal"}, {"open"}, {"worse", "better"})
        assert change.worsening * other.worsening == pytest.approx(1)
    assert [row.parameters for row in forth.only_before] == [row.parameters for row in back.only_after]


@given(FIGURES, FIGURES)
def test_worst_comes_first(first: Figures, second: Figures) -> None:
    changes = [change for change in compare(side(first), side(second)).changes if change.significant]
    assert changes == sorted(changes, key=lambda change: -change.worsening)


def test_direction_and_zero() -> None:
    def worsening(better: str, before: float, after: float) -> Any:
        figures = [{("x.y", better, 1): [value] * 6} for value in (before, after)]
        (change,) = compare(side(figures[0]), side(figures[1])).changes
        return change.worsening

    assert worsening("lower", 2, 4) == 2
    assert worsening("higher", 2, 4) == 0.5
    assert worsening("lower", 0, 0) == 1
    assert worsening("lower", 0, 1) == math.inf
    assert worsening("higher", 1, 0) == math.inf


def test_figures_without_a_ratio_are_told_by_their_difference(native: Native) -> None:
    cases = [
        ("higher", 60, -20, "worse by 80.0 us"),
        ("lower", -0.1, 5.2, "worse by 5.30 us"),
        ("lower", -0.2, -0.1, "worse by 0.100 us"),
        ("lower", -0.1, -0.2, "better by 0.100 us"),
        ("lower", 0, 1, "worse by 1.00 us"),
        ("lower", 1, 0, "better by 1.00 us"),
    ]
    for name, place in (("a", 1), ("b", 2)):
        figures = {("x.y", case[0], ranks): [float(case[place])] * 6 for ranks, case in enumerate(cases)}
        save(native.prefix / name, side(figures))
    ended = native.kumiki("compare", "a", "b", "--fail-if-slower", "5")
    assert all(verdict in ended.stdout for *_, verdict in cases), ended.stdout
    assert ended.returncode == 4 and "4 figures are significantly worse" in ended.stderr
    found = map(json.loads, native.kumiki("compare", "a", "b", "--format", "json").stdout.splitlines())
    for line in found:
        assert line["verdict"] == cases[line["parameters"]["ranks"]][3].split()[0]
        assert line["ratio"] is line["worsening"] is None
