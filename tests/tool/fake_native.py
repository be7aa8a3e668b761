"""A native part made of small shell scripts in a temporary prefix, and the real command line run against it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import psutil
from kumiki import command
from kumiki.entry import main
from kumiki.evaluation import evaluate
from kumiki.machine.native import PREFIX_VARIABLE
from kumiki.report.page import html

TOOL = Path(__file__).parents[2] / "tool"
TIME_LIMIT = 60
PRELOADED = (command, evaluate, html)
"""Modules that only some commands load; see Native.kumiki."""

PRELUDE = """#!/bin/sh
ranks=${FAKE_RANKS:-1}; threads=${FAKE_THREADS:-1}; form=plain; problem=
while [ $# -gt 0 ]; do
    case "$1" in
        --threads) threads=$2 ;;
        --form) form=$2 ;;
        --size|--keys|--class) problem=$2 ;;
        --of) of=$2; form=bound ;;
    esac
    shift
done
echo "${0##*/} ranks=$ranks threads=$threads form=$form problem=$problem" >> STARTED
row() { # metric implementation unit better samples [more fields]
    echo "{\\"metric\\": \\"$1\\", \\"implementation\\": \\"$2\\", \\"parameters\\": {\\"ranks\\": $ranks, \\
\\"threads\\": $threads, \\"form\\": \\"$form\\"}, \\"unit\\": \\"$3\\", \\"better\\": \\"$4\\", \\"samples\\": [$5]$6}"
}
"""
LAUNCHER = """#!/bin/sh
case "$1" in --version) echo "TITLE 4.1.4"; exit ;; esac
while :; do
    case "$1" in
        -n) FAKE_RANKS=$2; shift 2 ;;
        -t) FAKE_THREADS=$2; shift 2 ;;
        --bind-to|-bind-to|--wait|--fragment) shift 2 ;;
        -*) shift ;;
        *) break ;;
    esac
done
export FAKE_RANKS FAKE_THREADS
exec "$@"
"""
LAUNCHER_OVER_HOSTS = """#!/bin/sh
echo "kumiki-run $*" >> LOG
while :; do
    case "$1" in
        -n) FAKE_RANKS=$2; shift 2 ;;
        -t) FAKE_THREADS=$2; shift 2 ;;
        --hosts|--remote-shell|--interface|--wait|--fragment) shift 2 ;;
        *) break ;;
    esac
done
export FAKE_RANKS FAKE_THREADS
[ "$1" = sh ] && { printf 'ANSWERS\\n'; exit; }
exec "$@"
"""
"""kumiki-run reduced to hosts: the program with which hosts are queried is a shell."""
TOPOLOGY: dict[str, Any] = {
    "schema_version": 1,
    "virtual": False,
    "memory_bytes": 8 << 30,
    "usable": {"cores": 2, "processors": [0, 1], "quota": None},
    "packages": [{"index": 0, "model": "Fake 9000", "cores": [[0], [1]]}],
    "memory_nodes": [{"index": 0, "bytes": 8 << 30, "processors": [0, 1]}],
    "caches": [{"level": 2, "type": "unified", "bytes": 1 << 20, "line_bytes": 64, "shared_by": [[0], [1]]}],
    "accelerators": [],
}
"""The output of kumiki-topology: two cores."""


@dataclass(frozen=True)
class Ended:
    """How a command ended, and its output."""

    returncode: int
    stdout: str
    stderr: str


@dataclass
class Native:
    """A prefix with fake programs, and the environment of the tool's processes."""

    prefix: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def started(self) -> list[str]:
        """One line for each program that was started."""
        log = self.prefix / "started"
        return log.read_text().splitlines() if log.exists() else []

    def program(self, name: str, body: str) -> None:
        """Installs a measuring program; `row` prints a row, and $ranks, $threads and $form are set in the body."""
        self._script(
            self.prefix / "libexec" / "kumiki" / name, PRELUDE.replace("STARTED", f"{self.prefix}/started") + body
        )

    def command(self, name: str, body: str) -> None:
        self._script(self.prefix / "bin" / name, body)

    def launcher_over_hosts(self, *answers: str) -> None:
        """Installs a kumiki-run whose hosts give these answers; its command lines are recorded with the started
        programs.
        """
        body = LAUNCHER_OVER_HOSTS.replace("LOG", f"{self.prefix}/launched")
        self.command("kumiki-run", body.replace("ANSWERS", "\\n".join(answers)))

    @property
    def launched(self) -> list[str]:
        """The command lines of that kumiki-run."""
        return (self.prefix / "launched").read_text().splitlines()

    def mpi(self, name: str, title: str) -> None:
        """Installs an MPI launcher."""
        self._script(self.prefix / "path" / f"mpirun.{name}", LAUNCHER.replace("TITLE", title))

    def kumiki(self, *arguments: str, **variables: str) -> Ended:
        """Runs the real command line to its end, in a separate process."""
        output, errors = self.prefix / "stdout", self.prefix / "stderr"
        process = os.fork()
        if process == 0:
            self._become_kumiki(arguments, {**self.environment, **variables}, output, errors)
        _, status = os.waitpid(process, 0)
        return Ended(
            os.waitstatus_to_exitcode(status), *(file.read_text(errors="surrogateescape") for file in (output, errors))
        )

    def _become_kumiki(
        self, arguments: tuple[str, ...], environment: dict[str, str], output: Path, errors: Path
    ) -> NoReturn:
        """The rest of this forked process: the libraries, whose loading would take most of the time, are already
        loaded.
        """
        code: object = 70
        try:
            signal.alarm(TIME_LIMIT)
            os.chdir(self.prefix)
            os.environ.clear()
            os.environ.update(environment)
            sys.stdout, sys.stderr = output.open("w"), errors.open("w")
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(sys.stdout.fileno(), 1)
            os.dup2(sys.stderr.fileno(), 2)
            sys.argv = ["kumiki", *arguments]
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 70)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Starts the real command line."""
        return subprocess.Popen(
            self.argv(*arguments),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.prefix,
        )

    def alive(self, words: str = "") -> list[int]:
        """The processes that the tool started below this prefix and whose command line holds these words."""
        return [
            process.pid
            for process in psutil.process_iter()
            if _value_of(process, PREFIX_VARIABLE) == str(self.prefix) and words in _command_of(process)
        ]

    def wait_for(self, words: str, running: subprocess.Popen[str]) -> None:
        """Returns when the running tool has started a process with these words."""
        deadline = time.monotonic() + TIME_LIMIT
        while not self.alive(words):
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < deadline, f"'{words}' was never started"
            time.sleep(0.02)

    @staticmethod
    def argv(*arguments: str) -> list[str]:
        return [sys.executable, "-m", "kumiki", *arguments]

    @staticmethod
    def _script(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)


def _value_of(process: psutil.Process, variable: str) -> str | None:
    """The value of a variable in its environment; None if the process has ended or belongs to another user."""
    try:
        return process.environ().get(variable)
    except psutil.Error:
        return None


def _command_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def results_of(folder: Path) -> dict[str, Any]:
    """The content of a folder's results.json."""
    content = json.loads((folder / "results.json").read_text())
    assert isinstance(content, dict)
    return content
