"""KUMIKI_SHARED_CHECK: from what the ranks have left to sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kumiki.explain import command, races
from kumiki.machine.native import Native
from test_explain import BASE, write_record

CODE = 0x401000


def race(**changes: Any) -> dict[str, Any]:
    made = {
        "array": BASE,
        "begin": 8,
        "end": 16,
        "intervals": 1,
        "barriers": 1,
        "ranks": [0, 1],
        "code": [CODE, CODE],
        "faulted": [True, True],
        "exact": [True, True],
    }
    return made | changes


def told(
    folder: Path, *found: dict[str, Any], others: int = 0, finished: bool = True, complete: bool = True
) -> list[str]:
    for rank in (0, 1, 2):
        write_record(folder, rank, [], size=3, finished=finished)
    (folder / races.FILE).write_text(json.dumps({"others": others, "complete": complete, "races": found}))
    loaded = races.load(folder, Native(folder))
    assert loaded is not None
    return list(races.sentences(loaded))


def test_no_race_is_said(tmp_path: Path) -> None:
    (sentence,) = told(tmp_path)
    assert sentence.startswith("No races between ranks")


def test_one_race(tmp_path: Path) -> None:
    sentence, note = told(tmp_path, race(code=[CODE, CODE + 9], exact=[True, False]))
    assert sentence.startswith(f"array at {BASE:#x}, bytes 8 to 15: rank 0 wrote it at {CODE:#x}, and rank 1 first")
    assert f"wrote to this page at {CODE + 9:#x}" in sentence and "(in 1 interval, first after 1 barrier)" in sentence
    assert "shared_lock" in sentence and "libdw-dev" in note


def test_the_same_lines_are_one_race(tmp_path: Path) -> None:
    sentence, _ = told(tmp_path, race(), race(begin=100, end=101, ranks=[1, 2], intervals=3, barriers=0))
    assert "bytes 8 to 100" in sentence and "ranks 0, 1 and 2: one wrote it at" in sentence
    assert "others there, too" in sentence and "(in 3 intervals, first after 0 barriers)" in sentence


def test_other_lines_are_other_races_and_many_are_cut(tmp_path: Path) -> None:
    found = [race(code=[CODE, CODE + number]) for number in range(races.MOST + 5)]
    sentences = told(tmp_path, *found, others=7)
    assert sum(" Change: " in sentence for sentence in sentences) == races.MOST
    assert "12 more are not listed." in sentences


def test_a_side_without_a_fault(tmp_path: Path) -> None:
    (sentence, *_) = told(tmp_path, race(code=[0, CODE], faulted=[False, True], exact=[False, True]))
    assert "rank 0 wrote it in a place that is not known" in sentence


def test_a_job_that_ended_early(tmp_path: Path) -> None:
    assert "ended early" in told(tmp_path, finished=False)[-1]


def test_not_all_was_compared(tmp_path: Path) -> None:
    assert "no room for all writes" in told(tmp_path, complete=False)[-1]


def test_nothing_was_compared(tmp_path: Path) -> None:
    write_record(tmp_path, 0, [])
    assert races.load(tmp_path, Native(tmp_path)) is None


@pytest.mark.parametrize(("value", "asked", "fails"), [("1", 1, 0), ("yes", 1, 0), ("fail", 1, 1), ("no", 0, 0)])
def test_the_setting(value: str, asked: int, fails: int) -> None:
    environment = {races.VARIABLE: value}
    assert races.asked(environment) == bool(asked) and races.fails(environment) == bool(fails)
    assert not races.asked({})


def test_races_fail_the_run_only_if_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(code: str, how: str) -> int:
        monkeypatch.setenv(races.VARIABLE, how)
        monkeypatch.setattr(races, "load", lambda *_: races.Found([], 0, []) if how == "no" else one)
        return command.run(Path("/bin/sh"), ["-c", f"exit {code}"], None, Native(tmp_path))

    told(tmp_path, race())
    one = races.load(tmp_path, Native(tmp_path))
    assert run("0", "1") == 0 and run("0", "fail") == 66 and run("3", "fail") == 3
