"""A rank or host that dies while another rank waits for its page inside a fault ends the job, and is named."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from launching import ENDED, ENVIRONMENT, Launcher, built_program, eventually

NAME = "kumiki-test-waits-in-fault"


def rank(launcher: Launcher, number: int) -> int:
    needle = f"KUMIKI_RANK={number}".encode()
    return next(
        process
        for process, name in launcher.processes().items()
        if name == NAME[:15] and needle in Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    )


@pytest.mark.parametrize("dies", ["rank", "host", "stopped"])
def test_the_job_ends_in_time_and_names_the_dead(launcher: Launcher, remote_shell: str, dies: str) -> None:
    program = built_program(NAME)
    settings = {"KUMIKI_TIMEOUT": "2" if dies == "stopped" else "60"}
    job = launcher.start("--hosts", "a,b", "--remote-shell", remote_shell, program, environment=settings)
    assert eventually(lambda: "T" in launcher.states(NAME[:15]))
    time.sleep(0.6)  # the other rank has come to its access by now
    assert job.poll() is None, job.communicate()
    begin = time.monotonic()
    if dies == "rank":
        os.kill(rank(launcher, 1), signal.SIGKILL)
    if dies == "host":
        daemons = sorted(process for process, name in launcher.processes().items() if name == "kumiki-daemon")
        os.kill(daemons[-1], signal.SIGKILL)
    _, said = job.communicate(timeout=20)
    assert time.monotonic() - begin < (2 if dies == "stopped" else 0) + ENDED + 1
    if dies == "rank":
        assert "rank 1 of 2 on host b" in said and "was killed by signal 9 (Killed)" in said
    elif dies == "host":
        assert "the connection to host b was lost" in said or "the connection to host a was lost" in said
    else:
        assert "rank 1 of 2 on host b" in said and "was stopped" in said
    assert job.returncode == (128 + signal.SIGKILL if dies == "rank" else ENVIRONMENT), said
    assert launcher.nothing_left()
