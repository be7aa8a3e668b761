"""The other commands: list, doctor, run, topology, report, --version."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from typing import Any

import pytest
from fake_native import TOPOLOGY, Native
from kumiki import suites, version
from kumiki.doctor.parts import parts
from kumiki.errors import UserError
from kumiki.explain import command
from kumiki.interrupts import termination_interrupts
from kumiki.machine import native as native_part


def test_version(bare: Native) -> None:
    ended = subprocess.run(bare.argv("--version"), env=bare.environment, capture_output=True, text=True, check=True)
    assert ended.stdout == f"kumiki {version()}\n"


def test_help_names_every_command_and_exit_code(bare: Native) -> None:
    said = " ".join(bare.kumiki("--help").stdout.split())  # A line may end between any two words.
    for word in ("evaluate", "doctor", "topology", "report", "compare", "list", "run", "130 interrupted"):
        assert word in said


def test_list_shows_what_is_missing(native: Native) -> None:
    (native.prefix / "libexec" / "kumiki" / "cg").unlink()
    table = native.kumiki("list").stdout
    assert "cg (missing)" in table and "laplace (missing)" not in table
    entries = {entry["name"]: entry for entry in json.loads(native.kumiki("list", "--format", "json").stdout)}
    assert list(entries) == [suite.name for suite in suites.ALL]
    assert entries["himeno"]["by_name"] and not entries["cg"]["by_name"]
    assert "only on request" in table
    programs = {program["name"]: program["present"] for program in entries["cg"]["programs"]}
    assert programs == {"cg": False, "cg-openmpi": True, "cg-mpich": False, "streams": True}
    assert "put.latency" in entries["remote-memory"]["metrics"]


@pytest.mark.parametrize("command", ["run", "topology"])
def test_arguments_are_handed_on_untouched(native: Native, command: str) -> None:
    native.command(f"kumiki-{command}", '#!/bin/sh\nfor a in "$@"; do echo "[$a]"; done\nexit 42\n')
    arguments = ["-n", "2", "--help", "--", "a b", "", "--version", "-x=1"]
    ended = native.kumiki(command, *arguments)
    assert ended.stdout.splitlines() == [f"[{argument}]" for argument in arguments]
    assert ended.returncode == 42


def test_run_becomes_the_native_launcher(native: Native) -> None:
    native.command("kumiki-run", "#!/bin/sh\necho $$\n")
    running = native.start("run", "program")
    out, _ = running.communicate()
    assert int(out) == running.pid


def test_run_starts_quickly(native: Native) -> None:
    """No library that only other commands need may be loaded before the launcher starts."""
    heavy = "{'numpy', 'jsonschema', 'matplotlib'}"
    program = f"import sys, kumiki.command; print(sorted({heavy} & set(sys.modules)))"
    ended = subprocess.run(
        [native.argv()[0], "-c", program], env=native.environment, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[]\n"


def test_doctor_without_a_native_part(bare: Native) -> None:
    ended = bare.kumiki("doctor")
    assert ended.returncode == 3
    assert "kumiki-run" in ended.stdout and "fix: unset KUMIKI_PREFIX" in ended.stdout
    assert "(KUMIKI_PREFIX names this prefix)" in ended.stdout and "fix: ./kumiki" not in ended.stdout
    assert "sudo apt install cmake" in ended.stdout
    told = json.loads(bare.kumiki("doctor", "--format", "json").stdout)
    assert told["usable"] is False and told["topology"] is None
    states = {finding["subject"]: finding["state"] for finding in told["findings"]}
    assert states["kumiki-run"] == states["measurement programs"] == states["CMake"] == "missing"
    assert states["Open MPI"] == states["MPICH"] == states["UCX"] == "optional"
    assert all(finding["mend"] for finding in told["findings"] if finding["state"] in ("missing", "optional"))


def test_doctor_and_evaluate_name_the_build_only_where_it_helps(bare: Native, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = bare.kumiki("evaluate", "--suite", "memory")
    assert ended.returncode == 3
    assert f"KUMIKI_PREFIX names the prefix {bare.prefix}: correct the variable, or unset it" in ended.stderr
    monkeypatch.delenv("KUMIKI_PREFIX", raising=False)
    found = {finding.subject: finding for finding in parts(native_part.Native(bare.prefix))}
    assert found["kumiki-run"].mend == "./kumiki"
    with pytest.raises(UserError, match=r"run \./kumiki once"):
        native_part.Native(bare.prefix).require(bare.prefix / "bin" / "kumiki-run")


def test_doctor_with_a_native_part(native: Native) -> None:
    ended = native.kumiki("doctor", "--format", "json")
    assert ended.returncode == 0
    told = json.loads(ended.stdout)
    assert told["usable"] is True and told["topology"] == TOPOLOGY
    states = {finding["subject"]: finding["state"] for finding in told["findings"]}
    assert states["kumiki-run"] == states["measurement programs"] == states["Open MPI"] == "good"
    assert states["CMake"] == "optional"  # the native part is built already
    assert "4.1.4" in next(finding["sentence"] for finding in told["findings"] if finding["subject"] == "Open MPI")


def test_doctor_names_the_missing_program(native: Native) -> None:
    (native.prefix / "libexec" / "kumiki" / "laplace").unlink()
    ended = native.kumiki("doctor")
    assert ended.returncode == 3
    assert "laplace" in ended.stdout


def test_report_is_written_again(native: Native) -> None:
    assert native.kumiki("evaluate", "--suite", "memory", "--threads", "1", "--output", "out").returncode == 0
    page = native.prefix / "out" / "index.html"
    page.unlink()
    begin = time.time()
    ended = native.kumiki("report", "out")
    assert ended.returncode == 0, ended.stderr
    assert page.stat().st_mtime >= begin - 1
    assert "out/index.html" in ended.stdout


def test_a_report_for_which_there_is_no_room_is_a_sentence(native: Native) -> None:
    assert native.kumiki("evaluate", "--suite", "memory", "--threads", "1", "--output", "out").returncode == 0
    page = native.prefix / "out" / "index.html"
    page.unlink()
    page.mkdir()
    ended = native.kumiki("report", "out")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert "the report cannot be written to the folder out (Is a directory); the results are in it" in ended.stderr


def test_report_of_nothing_is_a_sentence(native: Native) -> None:
    ended = native.kumiki("report", "nowhere")
    assert ended.returncode == 2
    assert "nowhere/results.json" in ended.stderr


@pytest.mark.parametrize("command", ["doctor", "list", "compare"])
def test_csv_only_where_there_are_rows(native: Native, command: str) -> None:
    ended = native.kumiki(command, *(["a", "b"] if command == "compare" else []), "--format", "csv")
    assert ended.returncode == 2
    assert "--format" in ended.stderr


@pytest.mark.parametrize("command", ["list", "doctor", "--help"])
def test_output_that_finds_no_room_is_a_sentence(native: Native, command: str) -> None:
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            native.argv(*command.split()), env=native.environment, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith("kumiki: standard output cannot be used (No space left on device)")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
def test_an_encoding_that_lacks_characters(native: Native, encoding: str) -> None:
    native.program("memory", "row memory.copy bound GB/s higher 10.1,10.2,10.0,10.3,10.1,10.2\n")
    assert native.kumiki("evaluate", "--suite", "memory", "--threads", "1", "--output", "a ‰ b").returncode == 0
    ended = subprocess.run(
        native.argv("report", "a ‰ b"),
        env=native.environment | {"PYTHONIOENCODING": encoding},
        cwd=native.prefix,
        capture_output=True,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert f"Report: a {'‰' if encoding == 'utf-8' else '?'} b/index.html".encode() in ended.stdout


def test_closed_streams(native: Native) -> None:
    def with_closed(stream: int) -> subprocess.CompletedProcess[str]:
        words = " ".join(native.argv("list"))
        return subprocess.run(
            ["sh", "-c", f"exec {words} {stream}>&-"], env=native.environment, capture_output=True, text=True
        )

    ended = with_closed(1)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert ended.stderr.startswith("kumiki: standard output is closed")
    ended = with_closed(2)
    assert ended.returncode == 0 and "put.latency" in ended.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_while_the_command_loads(native: Native, number: signal.Signals) -> None:
    """Loading the command line takes the longest; here a module whose loading never ends replaces its libraries."""
    slow = native.prefix / "slow"
    slow.mkdir()
    (slow / "typer.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(60)\n")
    environment = {**native.environment, "PYTHONPATH": f"{slow}:{native.environment['PYTHONPATH']}"}
    running = subprocess.Popen(
        native.argv("list"), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None and running.stdout.readline() == "loading\n"
    running.send_signal(number)
    _, errors = running.communicate(timeout=30)
    assert (running.returncode, errors) == (130, "kumiki: interrupted\n")


def test_a_closed_terminal_does_not_end_what_nohup_started() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with termination_interrupts():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_the_trials_of_advice(native: Native, number: signal.Signals) -> None:
    native.command("kumiki-run", "#!/bin/sh\nexec sleep 60\n")
    running = native.start("advise", "./program")
    native.wait_for("sleep 60", running)
    running.send_signal(number)
    _, errors = running.communicate(timeout=30)
    assert (running.returncode, errors) == (130, "kumiki: interrupted\n")
    assert native.alive("sleep 60") == []


def test_a_signal_while_the_launcher_of_an_explained_run_starts_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    start = subprocess.Popen

    def start_slowly(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        signal.raise_signal(signal.SIGTERM)
        return start(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", start_slowly)
    assert command._run(["sleep", "60"], dict(os.environ)) == 128 + signal.SIGTERM


def test_the_launcher_of_an_explained_run_ignores_what_nohup_ignores(native: Native) -> None:
    native.command("kumiki-run", "#!/bin/sh\nkill -HUP $$\necho alive\n")
    words = " ".join(native.argv("run", "--explain", "program"))
    ended = subprocess.run(
        ["sh", "-c", f"trap '' HUP; exec {words}"],
        env=native.environment,
        cwd=native.prefix,
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stdout) == (0, "alive\n"), ended.stderr
