"""`kumiki evaluate -- COMMAND`: a program of the user's own over ranks and threads, and its possible failures."""

from __future__ import annotations

import csv
import io
import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from fake_native import Native, results_of
from hypothesis import given
from hypothesis import strategies as st
from kumiki.own.figure import SEARCH_SECONDS, FigureReader, figure
from kumiki.own.program import OwnProgram
from kumiki.own.runs import stage
from kumiki.own.template import Template
from kumiki.suites.model import Grid

AMDAHL = 'echo "$0 $1 $2 $OMP_NUM_THREADS" >> started\necho "solved in $((5 + 20 / ($1 * $2))).0 s, at last"\n'
"""Five parts in twenty-five are serial; each start adds one line to the file `started`."""
ARGUMENTS = ("evaluate", "--ranks", "1,2", "--threads", "1", "--repeat", "6", "--output", "out")
METRIC = ("--metric", r"in ([\d.]+) s", "--metric-name", "solve")
COMMAND = ("--", "./heat", "{ranks}", "{threads}")


@pytest.fixture
def program(bare: Native) -> Native:
    """A machine without Kumiki's native part, and a program in the current folder."""
    put(bare, AMDAHL)
    return bare


def put(native: Native, body: str) -> None:
    path = native.prefix / "heat"
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)


def started(native: Native) -> list[str]:
    return (native.prefix / "started").read_text().splitlines()


def rows_of(native: Native, metric: str) -> dict[tuple[int, int], dict[str, Any]]:
    """The rows of a metric by (ranks, threads)."""
    rows = [row for row in results_of(native.prefix / "out")["rows"] if row["metric"] == metric]
    found = {(row["parameters"]["ranks"], row["parameters"]["threads"]): row for row in rows}
    assert len(found) == len(rows)
    return found


def test_runs_become_rows_with_speed_up_and_advice(program: Native) -> None:
    ended = program.kumiki(
        "evaluate", "--ranks", "1,2", "--threads", "1,2", "--repeat", "6", *METRIC, "--output", "out", *COMMAND
    )
    assert ended.returncode == 0, ended.stderr
    rows = rows_of(program, "command.solve")
    assert {setting: row["median"] for setting, row in rows.items()} == {(1, 1): 25, (1, 2): 15, (2, 1): 15, (2, 2): 10}
    assert all((row["n"], row["unit"], row["implementation"]) == (6, "s", "command") for row in rows.values())
    assert rows[2, 2]["note"] == "OMP_NUM_THREADS=2 ./heat 2 2"
    times = rows_of(program, "command.time")
    assert all(row["n"] == 6 and 0 < row["median"] < 5 for row in times.values())
    assert len(started(program)) == 1 + 4 * 6
    assert set(started(program)) == {"./heat 1 1 1", "./heat 1 2 2", "./heat 2 1 1", "./heat 2 2 2"}
    lines = [line.split() for line in ended.stdout.splitlines()]
    assert ["2", "ranks", "with", "2", "threads", "10.0", "±", "0", "%", "2.50", "62", "%", "20", "%", "6"] in [
        [word.rstrip("*") for word in line] for line in lines
    ]
    assert "./heat 2 2`, 10.0 s against 25.0 s on one processor: 2.50 times as fast" in " ".join(ended.stdout.split())
    assert "(from command.solve)" in ended.stdout  # the table's name for it: no row has a number there
    assert "Report: out/index.html" in ended.stdout


def test_wall_time_is_the_figure_without_a_metric(program: Native) -> None:
    put(program, "[ $1 = 2 ] || sleep 0.2\n")
    ended = program.kumiki(*ARGUMENTS, *COMMAND)
    assert ended.returncode == 0, ended.stderr
    rows = rows_of(program, "command.time")
    assert 0.2 <= rows[1, 1]["median"] < 2 and rows[2, 1]["median"] < rows[1, 1]["median"]
    assert "speed-up" in ended.stdout


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("./heat", "{threads}", "1"), {"1", "2"}),
        (("./heat", "1", "1"), {"1", "2"}),
        (("env", "OMP_NUM_THREADS=7", "./heat", "{threads}", "1"), {"7"}),
    ],
)
def test_threads_reach_openmp_unless_the_command_sets_them(
    program: Native, command: tuple[str, ...], said: set[str]
) -> None:
    (program.prefix / "path" / "env").symlink_to("/usr/bin/env")
    ended = program.kumiki("evaluate", "--threads", "1,2", "--repeat", "1", "--output", "out", "--", *command)
    assert ended.returncode == 0, ended.stderr
    assert {line.split()[-1] for line in started(program)} == said


def test_rates_are_better_when_higher(program: Native) -> None:
    put(program, 'echo "rate $(($1 * 90 + 10))" >&2\n')
    named = ("--metric", r"rate (\d+)", "--metric-name", "rate", "--unit", "MFLOPS", "--better", "higher")
    ended = program.kumiki(*ARGUMENTS, *named, *COMMAND)
    assert ended.returncode == 0, ended.stderr
    assert "190 MFLOPS against 100 MFLOPS on one processor: 1.90 times as fast" in " ".join(ended.stdout.split())


def test_one_setting_fails_and_the_others_stay(program: Native) -> None:
    put(program, AMDAHL + "if [ $1 = 2 ]; then echo no such rank; exit 3; fi\n")
    ended = program.kumiki("evaluate", "--ranks", "1,2,3", "--threads", "1", *METRIC, "--output", "out", *COMMAND)
    assert ended.returncode == 1
    assert "ended with exit code 3; its last words: solved in" in ended.stderr and "| no such rank" in ended.stderr
    assert ended.stderr.count("exit code 3") == 1  # it is not started again
    failed = [row for row in results_of(program.prefix / "out")["rows"] if "failed" in row]
    assert [row["parameters"]["ranks"] for row in failed] == [2]
    assert {
        row["parameters"]["ranks"]: row["n"]
        for row in results_of(program.prefix / "out")["rows"]
        if row["metric"] == "command.solve" and row["n"]
    } == {1: 6, 3: 6}
    assert "exit code 3" in (program.prefix / "out" / "index.html").read_text()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo done\n", "printed nothing that --metric 'in ([\\d.]+) s' matches; its last words: done"),
        ("echo in ... s\n", "printed '...' where --metric"),
        ("kill -SEGV $$\n", "SIGSEGV"),
        ("sleep 310\n", "was still running after 0.3 s"),
    ],
)
def test_run_without_a_figure_says_why(program: Native, body: str, words: str) -> None:
    put(program, body)
    ended = program.kumiki(*ARGUMENTS, *METRIC, "--time-limit", "0.3", *COMMAND)
    assert ended.returncode == 1
    assert words in ended.stderr and "Traceback" not in ended.stderr


@pytest.mark.parametrize("figure", ["0", "0.0", "-3"])
def test_a_figure_without_speed_ups_says_why(program: Native, figure: str) -> None:
    put(program, f"echo in {figure} s\n")
    ended = program.kumiki(*ARGUMENTS, "--metric", r"in ([-\d.]+) s", *COMMAND)
    assert ended.returncode == 1
    assert f"printed '{figure}'" in ended.stderr and "looks for a number above 0" in ended.stderr


def test_an_expression_that_backtracks_ends(program: Native, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kumiki.own.figure.SEARCH_SECONDS", 0.2)
    put(program, f"echo {'a' * 60}b\n")
    begun = time.monotonic()
    ended = program.kumiki(*ARGUMENTS, "--metric", "(a|aa)+$", *COMMAND)
    assert ended.returncode == 1 and "longer than 0.2 s" in ended.stderr
    assert time.monotonic() - begun < 30


def test_a_command_with_bytes_that_are_no_characters(program: Native) -> None:
    ended = program.kumiki(*ARGUMENTS, *COMMAND, "caf\udce9")
    assert ended.returncode == 0, ended.stderr
    assert "caf" in (program.prefix / "out" / "index.html").read_text(encoding="utf-8")
    assert "caf" in (program.prefix / "out" / "evaluate.log").read_text(encoding="utf-8")
    assert program.kumiki("report", "out").returncode == 0


def test_interrupt_keeps_what_was_measured_and_resume_goes_on(program: Native) -> None:
    put(
        program,
        AMDAHL
        + "[ -e RELEASE ] || [ $(wc -l < started) -lt 5 ] || exec sleep 311\n".replace(
            "$(wc -l < started)", "$(n=0; while read line; do n=$((n + 1)); done < started; echo $n)"
        ),
    )
    running = program.start(*ARGUMENTS, *METRIC, *COMMAND)
    program.wait_for("sleep 311", running)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=20)
    assert running.returncode == 130 and "--resume" in errors
    assert sum(row["n"] for row in rows_of(program, "command.solve").values()) == 3
    (program.prefix / "RELEASE").touch()
    ended = program.kumiki(*ARGUMENTS, *METRIC, "--resume", *COMMAND)
    assert ended.returncode == 0, ended.stderr
    assert [row["n"] for row in rows_of(program, "command.solve").values()] == [6, 6]
    assert len(started(program)) == 1 + 2 * 6 + 1


def test_resume_names_the_arguments_that_it_was_begun_with(program: Native) -> None:
    program.kumiki(*ARGUMENTS, *METRIC, *COMMAND)
    ended = program.kumiki(*ARGUMENTS, "--resume", *COMMAND)
    assert ended.returncode == 2
    begun = (
        "--metric-name solve --unit s --better lower --repeat 6 --output out --resume -- ./heat '{ranks}' '{threads}'"
    )
    assert begun in ended.stderr


def test_dry_run_tells_each_setting_and_runs_nothing(program: Native) -> None:
    both = ("--scaling", "both", "--size", "100", "--power", "2")
    arguments = ("evaluate", "--ranks", "1,4", "--threads", "1", *both, "--dry-run")
    command = ("--", "./heat", "{ranks}", "{processors}", "{size}")
    ended = program.kumiki(*arguments, *command)
    assert ended.returncode == 0, ended.stderr
    assert "19 runs with the warm-up" in ended.stdout
    lines = program.kumiki(*arguments, "--format", "json", *command).stdout.splitlines()
    assert [json.loads(line)["command"] for line in lines] == [
        f"OMP_NUM_THREADS=1 ./heat {words}" for words in ("1 1 100", "4 4 100", "4 4 200")
    ]
    table = list(csv.DictReader(io.StringIO(program.kumiki(*arguments, "--format", "csv", *command).stdout)))
    assert [row["scaling"] for row in table] == ["", "", "weak"]
    assert not (program.prefix / "started").exists() and not (program.prefix / "report").exists()


def test_rows_as_json_lines(program: Native) -> None:
    ended = program.kumiki(*ARGUMENTS, "--format", "json", *METRIC, *COMMAND)
    assert {json.loads(line)["metric"] for line in ended.stdout.splitlines()} == {"command.solve", "command.time"}
    assert "What matters here" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--", "./heat"), "put {ranks} or {threads}"),
        (("--", "./heat", "{thread}"), "did you mean 'threads'"),
        (("--", "./cold", "{threads}"), "no program './cold'"),
        (("--", "./heat {threads}"), "do not quote the command as a whole"),
        (("laplace",), "--suite laplace"),
        (("--ranks", "2", "--", "./heat", "{threads}"), "no {ranks}"),
        (("--threads", "2", "--", "./heat", "OMP_NUM_THREADS=2"), "without {threads}"),
        (("--", "./heat", "{threads}", "{size}"), "--size"),
        (("--size", "4", "--", "./heat", "{threads}"), "no {size}"),
        (("--scaling", "both", "--", "./heat", "{threads}"), "put {size}"),
        (("--size", "4", "--power", "0", "--", "./heat", "{threads}", "{size}"), "--power"),
        (("--metric", "(", "--", "./heat", "{threads}"), "not a regular expression"),
        (("--metric", "time", "--", "./heat", "{threads}"), "needs exactly one"),
        (("--metric", "(x)", "--metric-name", "Time!", "--", "./heat", "{threads}"), "--metric-name"),
        (("--metric", "(x)", "--better", "higher", "--", "./heat", "{threads}"), "--unit"),
        (("--unit", "s", "--", "./heat", "{threads}"), "there is no --metric"),
        (("--sequential", "'", "--", "./heat", "{threads}"), "--sequential"),
        (("--repeat", "0", "--", "./heat", "{threads}"), "--repeat"),
        (("--repeat", "2"), "-- COMMAND"),
        (("--suite", "cg", "--", "./heat", "{threads}"), "--suite"),
        (("--cluster", "lab", "--", "./heat", "{threads}"), "kumiki run --cluster lab"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_code_2(program: Native, arguments: tuple[str, ...], words: str) -> None:
    ended = program.kumiki("evaluate", "--output", "out", *arguments)
    assert ended.returncode == 2, ended.stderr
    assert words in " ".join(ended.stderr.replace("│", " ").split()) and "Traceback" not in ended.stderr
    assert not (program.prefix / "started").exists() and not (program.prefix / "out").exists()


def test_sequential_form_is_the_base(program: Native) -> None:
    arguments = (*ARGUMENTS, *METRIC, "--sequential", "sh -c 'echo in 20.0 s'")
    ended = program.kumiki(*arguments, *COMMAND)
    assert ended.returncode == 0, ended.stderr
    said = " ".join(ended.stdout.split())
    assert "base case: the sequential form, 20.0 s" in said
    assert "15.0 s against 20.0 s sequentially: 1.33 times as fast" in said
    assert "On one processor your program is slower than the sequential form by a factor of 1.25" in said


SETTINGS = st.sets(st.integers(1, 9), min_size=1, max_size=3)


@given(SETTINGS, SETTINGS, st.integers(1, 4), st.sampled_from(["strong", "weak", "both"]), st.integers(0, 9))
def test_every_round_has_every_setting_once(
    ranks: set[int], threads: set[int], repeats: int, scaling: str, seed: int
) -> None:
    own = OwnProgram(Template(("./heat", "{ranks}", "{threads}", "{size}")), scaling=scaling, size=8, repeats=repeats)
    grid = Grid(4, ranks=tuple(ranks), threads=tuple(threads))
    _, (warm_up, *runs) = stage(own, grid, seed)
    assert warm_up.warm_up and not any(run.warm_up for run in runs)
    assert len({run.key for run in (warm_up, *runs)}) == len(runs) + 1
    rounds = [runs[begin : begin + len(runs) // repeats] for begin in range(0, len(runs), len(runs) // repeats)]
    assert len(rounds) == repeats
    assert len({frozenset(run.setting for run in one) for one in rounds}) == 1
    least, grown = len(ranks) * len(threads), 2 if scaling == "both" else 1
    assert least <= len(rounds[0]) <= grown * least
    assert [run.key for run in stage(own, grid, seed)[1]] == [run.key for run in (warm_up, *runs)]


def test_usual_settings_leave_a_core_free_and_crowd_nobody() -> None:
    threads = OwnProgram(Template(("./heat", "{threads}")))
    assert [setting[1] for setting in threads.settings(Grid(6))] == [1, 2, 4, 5, 6]
    ranks = OwnProgram(Template(("mpirun", "-n", "{ranks}")))
    assert ranks.settings(Grid(6)) == [(1, 1), (2, 1), (4, 1), (5, 1), (6, 1)]
    assert (2, 3) in OwnProgram(Template(("x", "{ranks}", "{threads}"))).settings(Grid(6))


def test_time_limit_may_be_longer_than_the_usual() -> None:
    own = OwnProgram(Template(("./heat", "{threads}")))
    _, (run, *_) = stage(own, Grid(2), 1)
    assert (run.limit(None), run.limit(7200), run.limit(1)) == (3600, 7200, 1)


def test_program_has_no_more_braces_than_are_ours() -> None:
    template = Template(("awk", "{print $1}", "{ranks}x{ranks}"))
    assert template.filled({"ranks": 3, "threads": 1}) == ("awk", "{print $1}", "3x3")


def test_samples_of_all_runs_are_kept(program: Native) -> None:
    program.kumiki(*ARGUMENTS, *METRIC, *COMMAND)
    samples = json.loads((program.prefix / "out" / "samples.json").read_text())
    assert sorted(len(values) for values in samples.values()) == [6, 6, 6, 6]
    assert (Path(program.prefix) / "out" / "evaluate.log").read_text().count("$ OMP_NUM_THREADS=1 ./heat") == 13


def test_a_search_that_ended_after_its_time_leaves_none_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library reads a negative limit as none at all."""
    clock = iter((0.0, SEARCH_SECONDS + 1, 20.0, 21.0))
    monkeypatch.setattr("kumiki.own.figure.time.monotonic", lambda: next(clock))
    reader = FigureReader(figure("x ([0-9]+)", "figure", None, "lower"), {}, False, "")
    reader.take("none here")
    assert reader.malformed is None
    reader.take("x 3")
    assert reader.malformed is not None and "takes longer than" in reader.malformed
