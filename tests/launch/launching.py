"""Runs kumiki-run and checks what it leaves behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

MARK = "LAUNCH_TEST_MARK"
PATIENCE = 20.0
USAGE, ENVIRONMENT = 2, 3
"""Exit codes of kumiki-run."""
ENDED = 2.0
"""Seconds after which nothing of a failed job may be left."""


def find_command(name: str) -> str:
    """The launcher that the variable LAUNCHER names, or the one on PATH; other commands are beside it."""
    run = os.environ.get("LAUNCHER") or shutil.which("kumiki-run")
    if run is None:
        pytest.skip("kumiki-run is not built: set LAUNCHER or PATH")
    return str(Path(run).resolve().with_name(name))


def built_program(name: str) -> str:
    """A program that is built with these tests."""
    program = Path(find_command("kumiki-run")).parents[1] / "tests" / "launch" / name
    if not program.exists():
        pytest.skip(f"{name} is not built")
    return str(program)


def rank_program() -> str:
    """A rank that joins a job without the library (rank.cpp)."""
    return built_program("kumiki-test-rank")


def eventually(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Whether the condition becomes true within the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


def lines(result: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines that a successful job has printed; the order of ranks does not matter."""
    assert result.returncode == 0, result.stderr
    return sorted(result.stdout.splitlines())


def remote_shell_script(folder: Path, text: str) -> str:
    """A remote shell that is a script of the shell: its arguments are the host's name and the command for it."""
    path = folder / "remote-shell"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def process_name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""


@dataclass
class Launcher:
    """kumiki-run, with a mark in the environment by which every process of the test's jobs is found."""

    path: str
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("KUMIKI_", "OMP_", "HWLOC_"))
        }
        return {**clean, MARK: self.mark, **(extra or {})}

    def run(
        self,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        text: str = "",
        folder: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a job to its end; `text` is its input."""
        return subprocess.run(
            [self.path, *arguments],
            env=self.environment(environment),
            input=text,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def shell(self, command: str) -> subprocess.CompletedProcess[str]:
        """Runs a command of bash, which may start the launcher, to its end."""
        return subprocess.run(
            ["bash", "-c", command],
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def start(self, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Starts a job in a process group of its own and returns at once."""
        process = subprocess.Popen(
            [self.path, *arguments],
            env=self.environment(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=os.setpgrp,
        )
        self.started.append(process)
        return process

    def processes(self) -> dict[int, str]:
        """All living processes that have the mark, with their names."""
        found = {}
        needle = f"{MARK}={self.mark}".encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if needle in (entry / "environ").read_bytes() and ") Z " not in (entry / "stat").read_text():
                    found[int(entry.name)] = process_name(int(entry.name))
            except OSError:
                continue
        return found

    def count(self, name: str) -> int:
        """The number of processes with this name."""
        return list(self.processes().values()).count(name)

    def wait_for(self, name: str, number: int) -> None:
        """Waits until there are this many processes with this name."""
        assert eventually(lambda: self.count(name) == number)

    def states(self, name: str) -> list[str]:
        """The states of the processes with this name: S (asleep), T (stopped) and others, as `ps` shows them."""
        found = []
        for process, own_name in self.processes().items():
            if own_name == name:
                found.append(Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0])
        return sorted(found)

    def end(self) -> None:
        """Ends what a failed test has left behind."""
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for started in self.started:
            started.communicate()

    def host_daemon(self) -> int:
        """The process of the job that monitors the ranks."""
        assert eventually(lambda: "kumiki-daemon" in self.processes().values())
        return next(process for process, name in self.processes().items() if name == "kumiki-daemon")

    def nothing_left(self, seconds: float = 2.0) -> bool:
        return eventually(lambda: not self.processes(), seconds)
