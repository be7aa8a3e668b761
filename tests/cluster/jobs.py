"""Jobs of Kumiki's own programs on the hosts of a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from clustering import Hosts, argv
from kumiki.machine.native import Native

PATIENCE = 20.0


@dataclass
class Jobs:
    """Starts jobs and checks that they are gone."""

    hosts: Hosts
    environment: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def _command(self, ranks: int, program: str, arguments: tuple[str, ...]) -> list[str]:
        path = Native.installed().program(program)
        if not path.exists():
            pytest.skip(f"the program {program} is not installed")
        return argv("run", "--cluster", self.hosts.name, "-n", str(ranks), "-t", "1", str(path), *arguments)

    def rows(self, ranks: int, program: str, *arguments: str) -> list[dict[str, Any]]:
        """Runs a measuring program to its end and returns its rows."""
        ended = subprocess.run(
            self._command(ranks, program, arguments),
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return [json.loads(line) for line in ended.stdout.splitlines()]

    def start(self, ranks: int, program: str, *arguments: str) -> subprocess.Popen[str]:
        job = subprocess.Popen(
            self._command(ranks, program, arguments),
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(job)
        return job

    def ranks(self) -> dict[int, int]:
        """The processes of the ranks that are running, by rank."""
        found = {}
        for process in self.hosts.processes():
            try:
                variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            for variable in variables:
                if variable.startswith(b"KUMIKI_RANK="):
                    found[int(variable.split(b"=")[1])] = process
        return found

    def wait_for_ranks(self, count: int) -> dict[int, int]:
        """Waits until all ranks run and have had time to join."""
        end = time.monotonic() + PATIENCE
        while len(self.ranks()) < count:
            assert time.monotonic() < end, "the ranks were not started"
            time.sleep(0.02)
        time.sleep(0.7)
        return self.ranks()

    def link(self, host: int, state: str) -> None:
        """Cuts a host off, or connects it again."""
        subprocess.run(argv("cluster", "link", self.hosts.name, str(host), state), check=True, timeout=30)

    def nothing_left(self) -> bool:
        """Whether no process runs on any host."""
        end = time.monotonic() + 3
        while self.hosts.processes() and time.monotonic() < end:
            time.sleep(0.02)
        return not self.hosts.processes()

    def end(self) -> None:
        for job in self.started:
            if job.poll() is None:
                job.kill()
            job.communicate()
