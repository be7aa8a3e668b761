"""Nothing of a job is left, whichever process is killed, and at whatever moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from launching import Launcher, eventually, process_name

FAMILY = """
sleep 60 &
setsid sleep 61 &
(setsid sh -c 'trap "" TERM HUP; sleep 62; sleep 63' &)
(sh -c 'setsid setsid sleep 64 &' &)
trap "" TERM
sleep 65; sleep 66
"""
"""A rank with children, orphans and sessions of their own that ignore signals."""
SLEEPERS = 5


def start_family(launcher: Launcher, ranks: int = 2) -> subprocess.Popen[str]:
    job = launcher.start("-n", str(ranks), "sh", "-c", FAMILY)
    launcher.wait_for("sleep", ranks * SLEEPERS)
    return job


def test_killing_the_launcher_leaves_nothing(launcher: Launcher) -> None:
    job = start_family(launcher)
    job.kill()
    assert launcher.nothing_left()


def test_killing_the_host_daemon_leaves_nothing(launcher: Launcher) -> None:
    job = start_family(launcher)
    daemon = launcher.host_daemon()
    os.kill(daemon, signal.SIGKILL)
    assert job.wait(2) == 128 + signal.SIGKILL
    assert launcher.nothing_left(0.1)
    assert job.stderr is not None
    assert f"(process {daemon}) was killed by signal 9 (Killed); the ranks were ended" in job.stderr.read()


def test_killing_the_whole_process_group_leaves_nothing(launcher: Launcher) -> None:
    job = start_family(launcher)
    os.killpg(job.pid, signal.SIGKILL)
    assert launcher.nothing_left()


def test_killing_by_name_does_not_hit_the_host_daemon(launcher: Launcher) -> None:
    """`pkill -9 kumiki-run`, `pkill -9 -f kumiki-run`, without killing other users' jobs on this machine."""
    job = start_family(launcher)
    daemon = launcher.host_daemon()
    assert "kumiki-run" not in process_name(daemon)
    assert b"kumiki-run" not in Path(f"/proc/{daemon}/cmdline").read_bytes()
    named = [process for process, name in launcher.processes().items() if name == "kumiki-run"]
    assert named == [job.pid]
    job.kill()
    assert launcher.nothing_left()


def test_killing_launcher_and_host_daemon_leaves_no_rank(launcher: Launcher) -> None:
    job = launcher.start("-n", "2", "sleep", "60")
    launcher.wait_for("sleep", 2)
    for process in (launcher.host_daemon(), job.pid):
        os.kill(process, signal.SIGKILL)
    assert launcher.nothing_left()


def test_a_job_inside_a_job_goes_with_it(launcher: Launcher) -> None:
    job = launcher.start("-n", "2", launcher.path, "-n", "2", "sleep", "60")
    launcher.wait_for("sleep", 4)
    job.kill()
    assert launcher.nothing_left()


def test_a_reader_that_does_not_read_keeps_nothing_alive(launcher: Launcher, place: tuple[str, ...]) -> None:
    job = launcher.start(*place, "-n", "2", "--label", "yes")
    launcher.wait_for("yes", 2)
    time.sleep(0.3)  # the pipe is full now, and is not read
    job.kill()
    assert launcher.nothing_left()


def test_the_user_need_not_wait_for_a_reader_that_does_not_read(launcher: Launcher, place: tuple[str, ...]) -> None:
    job = launcher.start(*place, "-n", "2", "--label", "yes")
    launcher.wait_for("yes", 2)
    time.sleep(0.3)
    job.terminate()
    assert eventually(lambda: "yes" not in launcher.processes().values())
    time.sleep(0.3)
    job.terminate()
    assert job.wait(2) == 128 + signal.SIGTERM
    assert launcher.nothing_left(0.5)


def test_nothing_appears_in_shared_memory_folders(launcher: Launcher) -> None:
    folders = [Path("/dev/shm"), Path("/tmp"), Path.cwd()]
    before = [set(os.listdir(folder)) for folder in folders]
    job = start_family(launcher)
    during = [set(os.listdir(folder)) for folder in folders]
    job.kill()
    assert launcher.nothing_left()
    after = [set(os.listdir(folder)) for folder in folders]
    for earlier, later in ((before, during), (before, after)):
        new = {name for old, now in zip(earlier, later, strict=True) for name in now - old}
        assert not [name for name in new if "kumiki" in name.lower()]


def test_an_interrupted_start_is_no_failure(launcher: Launcher, place: tuple[str, ...]) -> None:
    """Ctrl-C at a random moment, from the launcher's first millisecond on."""
    dice = random.Random(1)
    for _ in range(12):
        job = launcher.start(*place, "-n", "3", "sleep", "60")
        time.sleep(dice.uniform(0, 0.05))
        os.killpg(job.pid, signal.SIGINT)
        assert job.wait(5) in (128 + signal.SIGINT, -signal.SIGINT)
        assert job.stderr is not None
        assert job.stderr.read() == ""
        assert launcher.nothing_left()


@pytest.mark.parametrize("victim", ["kumiki-run", "kumiki-daemon", "sh"])
def test_random_moments(launcher: Launcher, victim: str) -> None:
    """Kills one process of the job at a random moment of its life, from its first millisecond on."""
    dice = random.Random(victim)
    for _ in range(17):
        job = launcher.start("-n", "3", "sh", "-c", "sleep 60 & setsid sleep 61 & wait")
        moment = time.monotonic() + dice.uniform(0, 0.06)
        while time.monotonic() < moment:
            pass
        alive = [process for process, name in launcher.processes().items() if name == victim]
        for process in alive[:1]:
            os.kill(process, signal.SIGKILL)
        if not alive:
            job.kill()
        assert job.wait(5) != 0
        assert launcher.nothing_left(), (moment, launcher.processes())
