"""Running kumiki-run and watching what it leaves behind."""

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


def find_command(name: str) -> str:
    """The launcher that KUMIKI_RUN names, or the one on PATH; other commands lie beside it."""
    run = os.environ.get("KUMIKI_RUN") or shutil.which("kumiki-run")
    if run is None:
        pytest.skip("kumiki-run is not built: set KUMIKI_RUN or PATH")
    return str(Path(run).resolve().with_name(name))


def eventually(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Whether the condition comes true within the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


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
        self, *arguments: str, environment: Mapping[str, str] | None = None, text: str = ""
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.path, *arguments],
            env=self.environment(environment),
            input=text,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def start(self, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Starts a job in a process group of its own and comes back at once."""
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
        """All living processes that carry the mark, with their names."""
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

    def end(self) -> None:
        """Ends what a failed test has left."""
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for started in self.started:
            started.communicate()

    def keeper(self) -> int:
        """The process of the job that watches over the ranks."""
        assert eventually(lambda: "kumiki-keeper" in self.processes().values())
        return next(process for process, name in self.processes().items() if name == "kumiki-keeper")

    def nothing_left(self, seconds: float = 2.0) -> bool:
        return eventually(lambda: not self.processes(), seconds)
