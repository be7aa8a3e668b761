"""A rank that has been stopped: the job ends and names it, or waits."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from launching import ENVIRONMENT, Launcher, eventually

TIMEOUT = 1
"""KUMIKI_TIMEOUT of these jobs, in seconds."""
LONG_AFTER = 2.0
"""Longer than that, plus the time until the launcher has checked."""
SLEEP = "exec sleep 60"
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17


def start(launcher: Launcher, *arguments: str, stopped: str | None = None) -> subprocess.Popen[str]:
    settings = {"KUMIKI_TIMEOUT": str(TIMEOUT)} | ({"KUMIKI_STOPPED": stopped} if stopped else {})
    job = launcher.start(*arguments, environment=settings)
    launcher.wait_for("sleep", 3)
    return job


def rank(launcher: Launcher, number: int) -> int:
    """The sleeping process of a rank."""
    needle = f"KUMIKI_RANK={number}".encode()
    found = [
        process
        for process, name in launcher.processes().items()
        if name == "sleep" and needle in Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    ]
    return found[0]


def ending(job: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = job.communicate(timeout=20)
    return job.returncode, said


def test_the_job_ends_and_names_the_rank(launcher: Launcher, place: tuple[str, ...]) -> None:
    job = start(launcher, *place, "-n", "3", "sh", "-c", SLEEP)
    process = rank(launcher, 1)
    os.kill(process, signal.SIGSTOP)
    begin = time.monotonic()
    code, said = ending(job)
    host = " on host a" if place else ""
    assert (code, said) == (
        ENVIRONMENT,
        f"kumiki-run: rank 1 of 3{host} (process {process}) was stopped and not continued for {TIMEOUT} s "
        "(KUMIKI_TIMEOUT); the other ranks were ended; with KUMIKI_STOPPED=wait the job waits for it\n",
    )
    assert TIMEOUT * 0.9 < time.monotonic() - begin < LONG_AFTER + 1
    assert launcher.nothing_left(0.5)


def test_a_rank_that_is_continued_in_time_is_nothing_special(launcher: Launcher, place: tuple[str, ...]) -> None:
    job = start(launcher, *place, "-n", "3", "sh", "-c", SLEEP)
    process = rank(launcher, 2)
    for _ in range(4):
        os.kill(process, signal.SIGSTOP)
        time.sleep(TIMEOUT * 0.5)
        os.kill(process, signal.SIGCONT)
        time.sleep(0.1)
    assert job.poll() is None
    job.terminate()
    assert ending(job) == (128 + signal.SIGTERM, "")


def test_the_job_waits_where_that_is_asked_for(launcher: Launcher, place: tuple[str, ...]) -> None:
    job = start(launcher, *place, "-n", "3", "sh", "-c", SLEEP, stopped="wait")
    process = rank(launcher, 0)
    os.kill(process, signal.SIGSTOP)
    time.sleep(LONG_AFTER + TIMEOUT)
    assert job.poll() is None
    os.kill(process, signal.SIGCONT)
    job.terminate()
    code, said = ending(job)
    assert code == 128 + signal.SIGTERM
    how = rf"\(process {process}\) is stopped; the job waits until it is continued \(kill -CONT {process}\)"
    assert re.fullmatch(rf"kumiki-run: rank 0 of 3( on host a)? {how}\n", said)


def test_a_debugger_is_waited_for(launcher: Launcher, place: tuple[str, ...]) -> None:
    job = start(launcher, *place, "-n", "3", "sh", "-c", SLEEP)
    process = rank(launcher, 1)
    system = ctypes.CDLL(None, use_errno=True)
    if system.ptrace(PTRACE_SEIZE, process, 0, 0) != 0:
        pytest.skip(f"this system lets nobody trace: {os.strerror(ctypes.get_errno())}")
    system.ptrace(PTRACE_INTERRUPT, process, 0, 0)
    os.waitpid(process, 0x40000000)  # __WALL
    assert eventually(lambda: launcher.states("sleep").count("t") == 1)
    time.sleep(LONG_AFTER)
    assert job.poll() is None
    system.ptrace(PTRACE_DETACH, process, 0, 0)
    job.terminate()
    code, said = ending(job)
    assert code == 128 + signal.SIGTERM
    assert re.fullmatch(
        rf"kumiki-run: rank 1 of 3.* \(process {process}\) is held by a debugger; the job waits for it\n", said
    )


def test_a_job_that_is_stopped_as_a_whole_is_waited_for(launcher: Launcher) -> None:
    """As by a shell, which stops all processes of the group."""
    job = start(launcher, "-n", "3", "sh", "-c", SLEEP)
    os.killpg(job.pid, signal.SIGSTOP)
    time.sleep(LONG_AFTER)
    assert launcher.states("sleep") == ["T", "T", "T"]
    os.killpg(job.pid, signal.SIGCONT)
    assert eventually(lambda: launcher.states("sleep") == ["S", "S", "S"])
    time.sleep(TIMEOUT)
    assert job.poll() is None
    job.terminate()
    assert ending(job) == (128 + signal.SIGTERM, "")
