"""`kumiki evaluate` against a fake native part: rows in, results out, and whatever may go wrong in between."""

from __future__ import annotations

import csv
import io
import json
import signal
import time
from pathlib import Path

import pytest
from fake_native import Native, results_of
from jsonschema import Draft202012Validator
from kumiki import suites
from kumiki.results import files

MEMORY = ("evaluate", "--suite", "memory", "--threads", "1", "--output", "out")


def test_rows_become_results(native: Native) -> None:
    ended = native.kumiki("evaluate", "--suite", "memory", "--threads", "1,2", "--seed", "7", "--output", "out")
    assert ended.returncode == 0, ended.stderr
    content = results_of(native.prefix / "out")
    assert content["complete"] is True
    assert content["seed"] == 7
    copies = {row["parameters"]["threads"]: row for row in content["rows"] if row["metric"] == "memory.copy"}
    assert set(copies) == {1, 2}
    row = copies[1]
    assert row["suite"] == "memory"
    assert (row["median"], row["ci95"], row["n"], row["converged"]) == (pytest.approx(10.15), [10.0, 10.3], 6, True)
    samples = json.loads((native.prefix / "out" / "samples.json").read_text())
    assert samples[str(row["id"])] == [10.1, 10.2, 10.0, 10.3, 10.1, 10.2]
    assert "memory.copy" not in ended.stderr
    assert "10.1" in ended.stdout and "Report: out/index.html" in ended.stdout
    assert (native.prefix / "out" / "index.html").exists()


def test_every_suite_runs_in_every_form(native: Native) -> None:
    ended = native.kumiki("evaluate", "--quick", "--ranks", "1,2", "--threads", "1,2", "--output", "out")
    assert ended.returncode == 0, ended.stderr
    rows = results_of(native.prefix / "out")["rows"]
    assert {row["suite"] for row in rows} == {
        "memory",
        "thread-barrier",
        "rank-barrier",
        "wait",
        "remote-memory",
        "laplace",
        "matmul",
        "radix-sort",
        "cg",
    }
    started = set(native.started)
    assert "cg ranks=2 threads=2 form=hybrid problem=W" in started
    assert "cg ranks=1 threads=2 form=openmp problem=W" in started
    assert "cg ranks=1 threads=1 form=sequential problem=W" in started
    assert "cg-openmpi ranks=2 threads=1 form=plain problem=W" in started
    assert "matmul ranks=1 threads=2 form=bound problem=900" in started
    assert any(line.startswith("radix-sort") and "form=library problem=4194304" in line for line in started)


def test_results_follow_the_schema(native: Native) -> None:
    native.kumiki("evaluate", "--suite", "memory,rank-barrier", "--ranks", "2", "--threads", "1", "--output", "out")
    content = results_of(native.prefix / "out")
    validator = Draft202012Validator(files.schema())
    assert list(validator.iter_errors(content)) == []
    del content["rows"][0]["unit"]
    assert list(validator.iter_errors(content)) != []


def test_absent_mpi_is_a_row_that_says_so(native: Native) -> None:
    ended = native.kumiki("evaluate", "--suite", "rank-barrier", "--ranks", "2", "--output", "out")
    assert ended.returncode == 0, ended.stderr
    rows = {row["implementation"]: row for row in results_of(native.prefix / "out")["rows"]}
    assert rows["openmpi"]["median"] == pytest.approx(0.4)
    assert rows["mpich"]["median"] is None
    assert "mpich libmpich-dev" in rows["mpich"]["absent"]
    assert "absent" in ended.stdout


def test_hanging_point_is_ended_with_all_its_processes(native: Native) -> None:
    native.program("memory", '[ "$threads" = 2 ] || exec sleep 301\nrow memory.copy bound GB/s higher 2,2,2,2,2,2\n')
    native.command("kumiki-run", '#!/bin/sh\n(trap "" TERM; sleep 302 & wait) &\nwait\n')
    begin = time.monotonic()
    ended = native.kumiki(
        "evaluate",
        "--suite",
        "memory,rank-barrier",
        "--ranks",
        "2",
        "--threads",
        "1,2",
        "--time-limit",
        "0.5",
        "--output",
        "out",
    )
    assert time.monotonic() - begin < 20
    assert ended.returncode == 1
    assert "memory --threads 1: was still running after 0.5 s" in ended.stderr
    rows = results_of(native.prefix / "out")["rows"]
    failed = [row for row in rows if "failed" in row]
    assert {row["suite"] for row in failed} == {"memory", "rank-barrier"}
    assert [row["median"] for row in failed] == [None, None]
    assert [row["median"] for row in rows if row["metric"] == "memory.copy" and "failed" not in row] == [2.0]
    assert native.alive() == []


def test_what_a_point_leaves_behind_is_ended(native: Native) -> None:
    """One process keeps the point's output open, the other has lost its parent: both would disturb the next
    measurement.
    """
    native.program("memory", "row memory.copy bound GB/s higher 2,2,2,2,2,2\nsleep 307 &\n(sleep 308 >&- 2>&- &)\n")
    ended = native.kumiki(*MEMORY)
    assert ended.returncode == 0, ended.stderr
    assert [row["median"] for row in results_of(native.prefix / "out")["rows"]] == [2.0]
    assert native.alive("sleep") == []


def test_crashing_point_keeps_its_rows_and_tells_its_last_words(native: Native) -> None:
    native.program("memory", "row memory.copy bound GB/s higher 2,2,2,2,2,2\necho out of cheese >&2\nkill -SEGV $$\n")
    ended = native.kumiki(*MEMORY)
    assert ended.returncode == 1
    kept, failed = results_of(native.prefix / "out")["rows"]
    assert kept["median"] == 2.0
    assert "SIGSEGV" in failed["failed"] and "out of cheese" in failed["failed"]
    assert "out of cheese" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"metric": "memory.copy"', "not JSON"),
        ('{"metric": "memory.copy", "implementation": "bound", "better": "higher", "samples": [1]}', "no 'parameters'"),
        ('{"metric": "x", "better": "higher"}', "thing.figure"),
    ],
)
def test_malformed_row_fails_its_point(native: Native, line: str, complaint: str) -> None:
    native.program("memory", f"cat <<'END'\n{line}\nEND\n".replace("cat", 'while read l; do echo "$l"; done'))
    ended = native.kumiki(*MEMORY)
    assert ended.returncode == 1
    (row,) = results_of(native.prefix / "out")["rows"]
    assert "malformed row" in row["failed"] and complaint in row["failed"]


def test_program_that_fails_or_prints_nothing(native: Native) -> None:
    native.program("memory", "exit 3\n")
    native.program("thread-barrier", "echo a remark\n")
    ended = native.kumiki("evaluate", "--suite", "memory,thread-barrier", "--threads", "2", "--output", "out")
    assert ended.returncode == 1
    reasons = [row["failed"] for row in results_of(native.prefix / "out")["rows"]]
    assert any("exit code 3" in reason for reason in reasons)
    assert any("no row" in reason for reason in reasons)
    assert "a remark" in (native.prefix / "out" / "evaluate.log").read_text()


def test_wrong_result_is_kept_and_fails_the_evaluation(native: Native) -> None:
    native.program("memory", "row memory.copy bound GB/s higher 1,1,1,1,1,1 ', \"validated\": false'\nexit 1\n")
    ended = native.kumiki(*MEMORY)
    assert ended.returncode == 1
    (row,) = results_of(native.prefix / "out")["rows"]
    assert row["validated"] is False and row["median"] == 1.0


def test_interrupt_keeps_what_was_measured_and_resume_goes_on(native: Native) -> None:
    native.program(
        "memory",
        'row memory.copy bound GB/s higher 2,2,2,2,2,2\n[ -e RELEASE ] || [ "$threads" = 1 ] || exec sleep 303\n',
    )
    arguments = ("evaluate", "--suite", "memory", "--threads", "1,2,3", "--seed", "1", "--output", "my out")
    running = native.start(*arguments)
    native.wait_for("sleep 303", running)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=20)
    assert running.returncode == 130
    assert "(kumiki report 'my out'); continue with --resume" in errors and "Traceback" not in errors
    assert native.alive("sleep 303") == []
    before = results_of(native.prefix / "my out")
    assert before["complete"] is False
    begun = len(native.started)

    (native.prefix / "RELEASE").touch()
    ended = native.kumiki(*arguments, "--resume")
    assert ended.returncode == 0, ended.stderr
    after = results_of(native.prefix / "my out")
    assert after["complete"] is True
    assert {row["parameters"]["threads"] for row in after["rows"]} == {1, 2, 3}
    assert len(native.started) - begun == 3 - len(before["points"])
    assert after["rows"][: len(before["rows"])] == before["rows"]


def test_terminated_like_interrupted(native: Native) -> None:
    native.program("memory", "exec sleep 304\n")
    running = native.start(*MEMORY)
    native.wait_for("sleep 304", running)
    running.terminate()
    running.communicate(timeout=20)
    assert running.returncode == 130
    assert native.alive("sleep 304") == []


def test_resume_measures_failed_points_again(native: Native) -> None:
    native.program("memory", "exit 3\n")
    assert native.kumiki(*MEMORY).returncode == 1
    native.program("memory", "row memory.copy bound GB/s higher 2,2,2,2,2,2\n")
    ended = native.kumiki(*MEMORY, "--resume")
    assert ended.returncode == 0, ended.stderr
    (row,) = results_of(native.prefix / "out")["rows"]
    assert row["median"] == 2.0


def test_resume_refuses_other_arguments_and_machines(native: Native) -> None:
    native.kumiki(*MEMORY)
    ended = native.kumiki("evaluate", "--quick", "--output", "out", "--resume")
    assert ended.returncode == 2
    assert "kumiki evaluate --suite memory --threads 1 --output out --resume" in ended.stderr
    (native.prefix / "out").rename(native.prefix / "my out")
    ended = native.kumiki("evaluate", "--quick", "--output", "my out", "--resume")
    assert "--output 'my out' --resume" in ended.stderr
    (native.prefix / "my out").rename(native.prefix / "out")
    file = native.prefix / "out" / "results.json"
    content = results_of(file.parent)
    content["environment"]["cpu"]["model"] = "Z80"
    file.write_text(json.dumps(content))
    ended = native.kumiki(*MEMORY, "--resume")
    assert ended.returncode == 2
    assert "another machine" in ended.stderr and "Z80" in ended.stderr


def test_resume_without_a_beginning(native: Native) -> None:
    ended = native.kumiki(*MEMORY, "--resume")
    assert ended.returncode == 2
    assert "there is no out/results.json" in ended.stderr


def test_dry_run_runs_nothing_and_prints_every_point(native: Native) -> None:
    ended = native.kumiki("evaluate", "--ranks", "1,2", "--threads", "1", "--dry-run")
    assert ended.returncode == 0
    assert native.started == []
    assert not (native.prefix / "report").exists()
    assert "kumiki-run -n 2 -t 1" in ended.stdout
    assert "mpirun.openmpi -n 2 --oversubscribe" in ended.stdout
    planned = native.kumiki("evaluate", "--ranks", "1,2", "--threads", "1", "--dry-run", "--format", "json")
    points = [json.loads(line) for line in planned.stdout.splitlines()]
    assert len(points) == sum(" s  " in line for line in ended.stdout.splitlines())
    assert all(point["estimated_seconds"] > 0 for point in points)


def test_the_usual_evaluation_says_what_it_left_out(native: Native) -> None:
    for more in (("--dry-run",), ("--quick", "--ranks", "1", "--threads", "1")):
        ended = native.kumiki("evaluate", *more)
        assert (
            "message, mpi, himeno, pi, is, diffusion, laplace-sor, cavity, lu, linpack, shared, openmp; "
            in ended.stderr
        )
        assert "--suite openmp" in ended.stderr and "--suite all" in ended.stderr
    named = native.kumiki("evaluate", "--suite", "pi", "--dry-run")
    assert "not measured" not in named.stderr


def test_all_suites_by_one_word(native: Native) -> None:
    planned = native.kumiki("evaluate", "--suite", "all", "--dry-run", "--format", "json")
    measured = {json.loads(line)["suite"] for line in planned.stdout.splitlines()}
    assert measured == {suite.name for suite in suites.ALL if suite.build is not None}
    assert planned.stderr == ""


def test_json_and_csv_say_the_same(native: Native) -> None:
    arguments = ("evaluate", "--suite", "memory,rank-barrier", "--ranks", "2", "--threads", "1", "--seed", "1")
    lines = native.kumiki(*arguments, "--output", "a", "--format", "json").stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["metric"] for row in rows] == ["memory.copy", "memory.read", *["rank_barrier.time"] * 3]
    table = list(csv.DictReader(io.StringIO(native.kumiki(*arguments, "--output", "b", "--format", "csv").stdout)))
    assert len(table) == len(rows)
    for row, cells in zip(rows, table, strict=True):
        assert cells["metric"] == row["metric"]
        assert cells["median"] == ("" if row["median"] is None else str(row["median"]))
        assert cells["ranks"] == str(row["parameters"]["ranks"])
        assert cells["converged"] == str(row["converged"]).lower()


def test_no_progress_display_in_a_pipe(native: Native) -> None:
    ended = native.kumiki(*MEMORY)
    assert "\x1b" not in ended.stdout + ended.stderr
    assert all(line.startswith("kumiki: warning") for line in ended.stderr.splitlines())


def test_foreign_files_are_left_alone(native: Native) -> None:
    folder = native.prefix / "out"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    ended = native.kumiki(*MEMORY)
    assert ended.returncode == 2
    assert "thesis.tex" in ended.stderr
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]


def test_folder_of_an_earlier_evaluation_is_used_again(native: Native) -> None:
    assert native.kumiki(*MEMORY).returncode == 0
    (native.prefix / "out" / "notes.txt").write_text("mine")
    assert native.kumiki(*MEMORY).returncode == 0
    assert (native.prefix / "out" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("content", "arguments"),
    [
        ("{", MEMORY),
        ("[]", (*MEMORY, "--resume")),
        ('{"schema_version": 1, "rows": []}', ("compare", "out", "out")),
        ('{"schema_version": 99}', ("report", "out")),
    ],
)
def test_broken_results_are_told_and_not_overwritten(native: Native, content: str, arguments: tuple[str, ...]) -> None:
    folder = native.prefix / "out"
    folder.mkdir()
    (folder / "results.json").write_text(content)
    ended = native.kumiki(*arguments)
    assert ended.returncode == 2
    assert "out/results.json" in ended.stderr and "Traceback" not in ended.stderr
    assert (folder / "results.json").read_text() == content


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--suite", "laplase"), "did you mean 'laplace'"),
        (("--suite", ""), "--suite"),
        (("--ranks", ""), "--ranks"),
        (("--ranks", "0,1"), "--ranks"),
        (("--threads", "-2"), "--threads"),
        (("--threads", "two"), "--threads"),
        (("--time-limit", "0"), "--time-limit"),
        (("--suite", "thread-barrier", "--threads", "1"), "nothing to measure"),
        (("--format", "xml"), "--format"),
        (("--output", "path/sleep/deeper"), "--output"),
        (("--surprise",), "--surprise"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_code_2(native: Native, arguments: tuple[str, ...], words: str) -> None:
    ended = native.kumiki("evaluate", *arguments)
    assert ended.returncode == 2, ended.stderr
    assert words in ended.stderr and "Traceback" not in ended.stderr
    assert native.started == []


def test_missing_native_part_names_the_mend(bare: Native) -> None:
    for arguments in (("evaluate",), ("run", "-n", "2", "true"), ("topology",)):
        ended = bare.kumiki(*arguments)
        assert ended.returncode == 3, arguments
        assert "KUMIKI_PREFIX names the prefix" in ended.stderr


def test_missing_program_fails_its_points_only(native: Native) -> None:
    (native.prefix / "libexec" / "kumiki" / "memory").unlink()
    ended = native.kumiki("evaluate", "--suite", "memory,thread-barrier", "--threads", "2", "--output", "out")
    assert ended.returncode == 1
    rows = {row["suite"]: row for row in results_of(native.prefix / "out")["rows"]}
    assert "KUMIKI_PREFIX names the prefix" in rows["memory"]["failed"]
    assert rows["thread-barrier"]["median"] == 0.1


def test_two_evaluations_do_not_share_a_folder(native: Native, tmp_path: Path) -> None:
    native.program("memory", "exec sleep 305\n")
    running = native.start(*MEMORY)
    native.wait_for("sleep 305", running)
    ended = native.kumiki(*MEMORY)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=20)
    assert ended.returncode == 2
    assert "another kumiki evaluate" in ended.stderr


def test_open_figures_get_the_time_that_settled_ones_left(native: Native) -> None:
    native.program("memory", "row memory.read bound GB/s higher 20,20,20,20,20,20\n")
    native.program("thread-barrier", "row thread_barrier.time kumiki us lower 0.1,0.2,0.1,0.2,0.1,0.2\n")
    ended = native.kumiki("evaluate", "--suite", "memory,thread-barrier", "--threads", "2", "--output", "out")
    assert ended.returncode == 0, ended.stderr
    content = results_of(native.prefix / "out")
    keys = [point["key"] for point in content["points"]]
    assert [key for key in keys if "memory" in key] == ["memory: memory --threads 2"]
    barrier = "thread-barrier: thread-barrier --threads 2"
    repeats = sum("again" in key for key in keys)
    assert 1 <= repeats <= 4  # a slow machine leaves no time for more
    assert [key for key in keys if "barrier" in key] == [
        barrier,
        *(f"{barrier}, again {time}" for time in range(1, repeats + 1)),
    ]
    settled, still_open = content["rows"]
    assert (settled["n"], settled["converged"]) == (6, True)
    assert (still_open["n"], still_open["converged"]) == ((1 + repeats) * 6, False)
    assert {number for point in content["points"] if "barrier" in point["key"] for number in point["rows"]} == {1}


def test_quick_evaluation_measures_nothing_again(native: Native) -> None:
    native.program("memory", "row memory.read bound GB/s higher 10,20,10,20,10,20\n")
    native.kumiki("evaluate", "--quick", "--suite", "memory", "--threads", "1", "--output", "out")
    assert len(results_of(native.prefix / "out")["points"]) == 1


def test_program_that_hung_twice_is_not_started_again(native: Native) -> None:
    native.program("memory", "exec sleep 306\n")
    ended = native.kumiki(
        "evaluate", "--suite", "memory", "--threads", "1,2,3,4", "--time-limit", "0.2", "--output", "out"
    )
    assert ended.returncode == 1
    assert len(native.started) == 2
    reasons = [row["failed"] for row in results_of(native.prefix / "out")["rows"]]
    assert sum("was not started, because memory hung before" in reason for reason in reasons) == 2
