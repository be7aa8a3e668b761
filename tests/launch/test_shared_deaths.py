"""A rank or host that dies while others wait for its page in a fault, or for its lock, ends the job, and is named."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from launching import ENDED, ENVIRONMENT, Launcher, built_program, eventually

NAME = "kumiki-test-waits-in-fault"
HOLDS_LOCK = "kumiki-test-holds-lock"
RANKS = 4
HOLDER = 3
"""The second rank of the second host."""
LOCKS = {"holder-is-manager": 3, "manager-beside-holder": 2, "manager-elsewhere": 0}


def rank(launcher: Launcher, number: int, program: str = NAME) -> int:
    needle = f"KUMIKI_RANK={number}".encode()
    return next(
        process
        for process, name in launcher.processes().items()
        if name == program[:15] and needle in Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
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


def is_named(said: str, number: int, host: str) -> bool:
    return f"rank {number} of {RANKS} on host {host}" in said


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS.keys())
@pytest.mark.parametrize("dies", ["killed", "exits", "host", "stopped"])
def test_who_dies_with_a_lock_is_named(launcher: Launcher, remote_shell: str, dies: str, lock: int) -> None:
    """All others wait for the lock: one on the same host, two on another one."""
    job = start_holder(launcher, remote_shell, lock, "exits" if dies == "exits" else "stays", dies == "stopped")
    if dies != "exits":
        assert eventually(lambda: "T" in launcher.states(HOLDS_LOCK[:15]))
        assert job.poll() is None, job.communicate()
    begin = time.monotonic()
    if dies == "killed":
        os.kill(rank(launcher, HOLDER, HOLDS_LOCK), signal.SIGKILL)
    if dies == "host":
        daemons = sorted(process for process, name in launcher.processes().items() if name == "kumiki-daemon")
        os.kill(daemons[-1], signal.SIGKILL)
    _, said = job.communicate(timeout=20)
    assert time.monotonic() - begin < (2 if dies == "stopped" else 0) + ENDED + 1
    if dies == "killed":
        assert is_named(said, HOLDER, "b") and "was killed by signal 9 (Killed)" in said, said
    elif dies == "host":
        assert "the connection to host b was lost" in said or "the connection to host a was lost" in said, said
    elif dies == "exits":
        assert is_named(said, HOLDER, "b"), said
    else:
        assert is_named(said, HOLDER, "b") and "was stopped" in said, said
    assert job.returncode not in (0, 7), said
    assert launcher.nothing_left()


def test_who_dies_with_a_lock_while_others_wait_in_faults_is_named(launcher: Launcher, remote_shell: str) -> None:
    job = start_holder(launcher, remote_shell, LOCKS["manager-elsewhere"], "faults", False)
    assert eventually(lambda: "T" in launcher.states(HOLDS_LOCK[:15]))
    time.sleep(0.6)  # the others have come to their accesses
    assert job.poll() is None, job.communicate()
    begin = time.monotonic()
    os.kill(rank(launcher, HOLDER, HOLDS_LOCK), signal.SIGKILL)
    _, said = job.communicate(timeout=20)
    assert time.monotonic() - begin < ENDED + 1
    assert is_named(said, HOLDER, "b") and "was killed by signal 9 (Killed)" in said, said
    assert launcher.nothing_left()


def start_holder(
    launcher: Launcher, remote_shell: str, lock: int, what: str, short_timeout: bool
) -> subprocess.Popen[str]:
    return launcher.start(
        *("--hosts", "a,b", "--remote-shell", remote_shell, "-n", str(RANKS), built_program(HOLDS_LOCK)),
        *(str(HOLDER), str(lock), what),
        environment={"KUMIKI_TIMEOUT": "2" if short_timeout else "60"},
    )
