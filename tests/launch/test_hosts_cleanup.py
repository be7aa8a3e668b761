"""Nothing of a job over several hosts is left, whichever process is killed or becomes silent."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from launching import ENDED, ENVIRONMENT, PATIENCE, Launcher, eventually

FAMILY = """
sleep 60 &
setsid sleep 61 &
(setsid sh -c 'trap "" TERM; sleep 62; sleep 63' &)
trap "" TERM
sleep 64; sleep 65
"""


@pytest.fixture
def family(launcher: Launcher, any_remote_shell: str) -> subprocess.Popen[str]:
    """Two hosts with two ranks each, which have children and sessions of their own and ignore signals."""
    job = launcher.start("--hosts", "a,b", "-n", "4", "--remote-shell", any_remote_shell, "sh", "-c", FAMILY)
    launcher.wait_for("sleep", 16)
    return job


def children(process: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if int((entry / "stat").read_text().rpartition(") ")[2].split()[1]) == process:
                    found.append(int(entry.name))
            except OSError:
                continue
    return sorted(found)


def sentence_of(job: subprocess.Popen[str]) -> str:
    assert job.stderr is not None
    return job.stderr.read()


def test_killing_the_front_leaves_nothing(launcher: Launcher, family: subprocess.Popen[str]) -> None:
    family.kill()
    assert launcher.nothing_left()


def test_killing_a_remote_shell_leaves_nothing_and_names_the_host(
    launcher: Launcher, family: subprocess.Popen[str]
) -> None:
    os.kill(children(family.pid)[1], signal.SIGKILL)
    assert family.wait(ENDED) == ENVIRONMENT
    assert "kumiki-run: the connection to host b was lost: " in (said := sentence_of(family))
    assert "was killed by signal 9 (Killed); the other ranks were ended\n" in said
    assert launcher.nothing_left()


def test_killing_a_host_daemon_leaves_nothing_and_names_the_host(
    launcher: Launcher, family: subprocess.Popen[str]
) -> None:
    last_remote_shell = children(family.pid)[1]
    tree = [last_remote_shell]
    for process in tree:
        tree += children(process)
    daemon = next(process for process in tree if launcher.processes().get(process) == "kumiki-daemon")
    os.kill(daemon, signal.SIGKILL)
    assert family.wait(ENDED) == ENVIRONMENT
    said = sentence_of(family)
    assert "kumiki-run: the connection to host b was lost: " in said
    assert f"the process that watches over the job (process {daemon}) was killed by signal 9 (Killed)" in said
    assert launcher.nothing_left()


def test_killing_everything_named_kumiki_run_leaves_nothing(launcher: Launcher, family: subprocess.Popen[str]) -> None:
    for process, name in launcher.processes().items():
        if name == "kumiki-run":
            os.kill(process, signal.SIGKILL)
    assert launcher.nothing_left()
    assert family.wait(ENDED) == -signal.SIGKILL


@pytest.mark.parametrize("victim", ["kumiki-run", "kumiki-daemon", "remote-shell", "sh"])
def test_random_moments(launcher: Launcher, any_remote_shell: str, victim: str) -> None:
    for round_number in range(6):
        job = launcher.start(
            "--hosts", "a,b", "--remote-shell", any_remote_shell, "sh", "-c", "sleep 60 & setsid sleep 61 & wait"
        )
        time.sleep(0.012 * round_number)
        alive = [process for process, name in launcher.processes().items() if name == victim]
        # A child that has not started its own program yet has its parent's name, but need not react to its death.
        newborn = {child for process in alive for child in children(process)}
        alive = [process for process in alive if process not in newborn]
        for process in alive[-1:]:
            os.kill(process, signal.SIGKILL)
        if not alive:
            job.kill()
        assert job.wait(5) != 0
        assert launcher.nothing_left(), (round_number, launcher.processes())


def test_a_silent_host_is_given_up(launcher: Launcher, any_remote_shell: str) -> None:
    """As when its network is cut: no connection ends, and nothing arrives."""
    short = {"KUMIKI_TIMEOUT": "1"}
    job = launcher.start("--hosts", "a,b", "--remote-shell", any_remote_shell, "sleep", "60", environment=short)
    launcher.wait_for("sleep", 2)
    silent = [process for process, name in launcher.processes().items() if name == "kumiki-daemon"][-1]
    begin = time.monotonic()
    os.kill(silent, signal.SIGSTOP)
    try:
        assert job.wait(4) == ENVIRONMENT
    finally:
        with suppress(ProcessLookupError):  # the end of the job may have ended it
            os.kill(silent, signal.SIGCONT)
    assert time.monotonic() - begin < 3.0
    assert re.search(r"nothing was heard of host [ab] for 1 s \(KUMIKI_TIMEOUT\)", sentence_of(job))
    assert launcher.nothing_left()


def test_a_host_whose_controller_is_silent_ends_its_ranks(launcher: Launcher, any_remote_shell: str) -> None:
    short = {"KUMIKI_TIMEOUT": "1"}
    job = launcher.start("--hosts", "a,b", "--remote-shell", any_remote_shell, "sleep", "60", environment=short)
    launcher.wait_for("sleep", 2)
    job.send_signal(signal.SIGSTOP)
    try:
        assert eventually(lambda: launcher.count("sleep") == 0, 4.0)
    finally:
        job.send_signal(signal.SIGCONT)
    assert job.wait(PATIENCE) == ENVIRONMENT
    assert launcher.nothing_left()
