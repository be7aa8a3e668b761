"""Signals to the launcher, from other processes and from a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest
from launching import PATIENCE, Launcher, eventually

COUNT = """
out=$OUT.$KUMIKI_RANK
for name in USR1 USR2 TERM INT HUP CONT; do trap "echo $name >> $out" $name; done
echo ready >> $out
while :; do sleep 0.02; done
"""


def written(out: Path, ranks: int = 2) -> list[list[str]]:
    files = [out.with_name(f"{out.name}.{rank}") for rank in range(ranks)]
    return [file.read_text().split() if file.exists() else [] for file in files]


def start_counting(launcher: Launcher, out: Path, *place: str) -> subprocess.Popen[str]:
    job = launcher.start(*place, "-n", "2", "sh", "-c", COUNT, environment={"OUT": str(out)})
    assert eventually(lambda: written(out) == [["ready"], ["ready"]])
    return job


@pytest.mark.parametrize("name", ["USR1", "USR2"])
def test_a_signal_is_passed_on_once_and_the_job_goes_on(
    launcher: Launcher, place: tuple[str, ...], tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    job = start_counting(launcher, out, *place)
    job.send_signal(signal.Signals[f"SIG{name}"])
    assert eventually(lambda: written(out) == [["ready", name]] * 2)
    time.sleep(0.2)
    assert written(out) == [["ready", name]] * 2
    assert job.poll() is None


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP"])
def test_a_signal_to_end_is_passed_on_once_and_after_the_grace_period_the_ranks_are_killed(
    launcher: Launcher, place: tuple[str, ...], tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    job = start_counting(launcher, out, *place)
    number = signal.Signals[f"SIG{name}"]
    begin = time.monotonic()
    job.send_signal(number)
    assert job.wait(PATIENCE) == 128 + number
    assert 0.9 < time.monotonic() - begin < 2.0
    assert launcher.nothing_left(0.5)
    assert [words.count(name) for words in written(out)] == [1, 1]
    assert job.stderr is not None
    assert job.stderr.read() == ""


def test_ranks_that_end_by_the_signal_end_the_job_without_waiting(launcher: Launcher) -> None:
    job = launcher.start("-n", "2", "sleep", "60")
    launcher.wait_for("sleep", 2)
    begin = time.monotonic()
    job.terminate()
    assert job.wait(PATIENCE) == 128 + signal.SIGTERM
    assert time.monotonic() - begin < 0.9
    assert launcher.nothing_left(0.1)


def test_a_second_request_kills_at_once(launcher: Launcher, place: tuple[str, ...], tmp_path: Path) -> None:
    job = start_counting(launcher, tmp_path / "out", *place)
    begin = time.monotonic()
    job.send_signal(signal.SIGINT)
    time.sleep(0.3)
    job.send_signal(signal.SIGINT)
    assert job.wait(PATIENCE) == 128 + signal.SIGINT
    assert time.monotonic() - begin < 0.95


def test_the_same_signal_to_launcher_and_group_is_one_request(launcher: Launcher, tmp_path: Path) -> None:
    """This is what `timeout` does."""
    job = start_counting(launcher, tmp_path / "out")
    begin = time.monotonic()
    job.terminate()
    time.sleep(0.05)  # so that the kernel does not merge the two
    os.killpg(job.pid, signal.SIGTERM)
    assert job.wait(PATIENCE) == 128 + signal.SIGTERM
    assert time.monotonic() - begin > 0.9


def test_a_job_under_timeout(launcher: Launcher) -> None:
    result = subprocess.run(
        ["timeout", "0.5", launcher.path, "-n", "2", "sleep", "60"],
        env=launcher.environment(),
        check=False,
        timeout=PATIENCE,
    )
    assert result.returncode == 124
    assert launcher.nothing_left()


def test_nohup_is_respected(launcher: Launcher) -> None:
    job = subprocess.Popen(
        ["sh", "-c", f"trap '' HUP; exec {launcher.path} -n 2 sh -c 'kill -HUP $$; sleep 1; echo alive'"],
        env=launcher.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    launcher.wait_for("sleep", 2)
    job.send_signal(signal.SIGHUP)
    assert job.communicate(timeout=PATIENCE)[0] == "alive\nalive\n"
    assert job.returncode == 0


def test_stop_and_continue(launcher: Launcher, place: tuple[str, ...]) -> None:
    job = launcher.start(*place, "-n", "2", "sleep", "60", environment={"KUMIKI_TIMEOUT": "1"})
    assert eventually(lambda: launcher.states("sleep") == ["S", "S"])
    job.send_signal(signal.SIGTSTP)
    assert eventually(lambda: launcher.states("sleep") == ["T", "T"])
    assert eventually(lambda: "T" in launcher.states("kumiki-run"))
    time.sleep(2.0)  # longer than the time after which a silent launcher, or a single stopped rank, is given up
    assert launcher.states("sleep") == ["T", "T"]
    job.send_signal(signal.SIGCONT)
    assert eventually(lambda: launcher.states("sleep") == ["S", "S"])
    assert job.poll() is None
    job.terminate()
    assert job.wait(PATIENCE) == 128 + signal.SIGTERM


class Terminal:
    """A job in the foreground of a terminal."""

    def __init__(self, launcher: Launcher, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.execve(launcher.path, [launcher.path, *arguments], launcher.environment(environment))
        self.output = ""

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def wait(self) -> int:
        """Reads until the end and returns the exit code."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and select.select([self.master], [], [], PATIENCE)[0]:
            try:
                self.output += os.read(self.master, 65536).decode()
            except OSError:
                break
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def test_control_c_reaches_every_rank_once(launcher: Launcher, place: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "out"
    terminal = Terminal(launcher, *place, "-n", "2", "sh", "-c", COUNT, environment={"OUT": str(out)})
    assert eventually(lambda: written(out) == [["ready"], ["ready"]])
    terminal.type(b"\x03")
    assert terminal.wait() == 128 + signal.SIGINT
    assert [words.count("INT") for words in written(out)] == [1, 1]
    assert "kumiki-run:" not in terminal.output
    assert launcher.nothing_left(0.5)


@pytest.mark.parametrize("round_number", range(8))
def test_control_c_is_never_taken_for_a_failure(launcher: Launcher, round_number: int) -> None:
    terminal = Terminal(launcher, "-n", "8", "sleep", "60")
    launcher.wait_for("sleep", 8)
    terminal.type(b"\x03")
    assert terminal.wait() == 128 + signal.SIGINT
    assert "kumiki-run:" not in terminal.output


def test_rank_0_reads_from_the_terminal(launcher: Launcher, place: tuple[str, ...]) -> None:
    script = '[ $KUMIKI_RANK = 0 ] || exit 0; read line; echo "<$line>"'
    terminal = Terminal(launcher, *place, "-n", "2", "sh", "-c", script)
    terminal.type(b"hello\n")
    assert terminal.wait() == 0
    assert "<hello>" in terminal.output


def test_a_terminal_stays_one_for_ranks_of_this_host(launcher: Launcher) -> None:
    terminal = Terminal(launcher, "-n", "2", "sh", "-c", "test -t 1 && test -t 2 && echo it is")
    assert terminal.wait() == 0
    assert terminal.output.count("it is") == 2


def test_a_closed_terminal_ends_the_job(launcher: Launcher) -> None:
    terminal = Terminal(launcher, "-n", "2", "sleep", "60")
    launcher.wait_for("sleep", 2)
    os.close(terminal.master)
    assert os.waitstatus_to_exitcode(os.waitpid(terminal.process, 0)[1]) == 128 + signal.SIGHUP
    assert launcher.nothing_left(0.1)
