"""A rank that fails ends the job: the message names the rank, and the launcher returns the right code."""

from __future__ import annotations

import re
import time

import pytest
from launching import ENDED, Launcher, rank_program


def test_the_code_of_the_rank_is_the_code_of_the_job(launcher: Launcher) -> None:
    result = launcher.run("-n", "3", "sh", "-c", "[ $KUMIKI_RANK = 1 ] && exit 7; exec sleep 60")
    assert result.returncode == 7
    assert re.fullmatch(
        r"kumiki-run: rank 1 of 3 \(process \d+\) exited with code 7; the other ranks were ended\n", result.stderr
    )
    assert launcher.nothing_left(0.1)


def test_over_several_hosts_the_host_is_named(launcher: Launcher, any_remote_shell: str) -> None:
    begin = time.monotonic()
    script = "[ $KUMIKI_RANK = 5 ] && kill -9 $$; exec sleep 60"
    result = launcher.run("--hosts", "a,b", "-n", "8", "--remote-shell", any_remote_shell, "sh", "-c", script)
    assert result.returncode == 128 + 9
    how = r"was killed by signal 9 \(Killed\); the other ranks were ended"
    assert re.fullmatch(rf"kumiki-run: rank 5 of 8 on host b \(process \d+\) {how}\n", result.stderr)
    assert time.monotonic() - begin < ENDED
    assert launcher.nothing_left(0.5)


def test_an_abort_is_not_the_verdict_if_a_rank_of_another_host_died_before(
    launcher: Launcher, remote_shell: str
) -> None:
    """UCX 1.13 may abort a rank when its peer dies; the host daemon of the dead one is held up, so the abort arrives
    first.
    """
    dies = "kill -STOP $PPID; (sleep 1; kill -CONT $PPID) & kill -TERM $$"
    script = f"if [ $KUMIKI_RANK = 1 ]; then {dies}; fi; sleep 0.5; kill -ABRT $$"
    result = launcher.run("--hosts", "a,b", "--remote-shell", remote_shell, "sh", "-c", script)
    assert result.returncode == 128 + 15
    how = r"was killed by signal 15 \(Terminated\); the other ranks were ended"
    assert re.fullmatch(rf"kumiki-run: rank 1 of 2 on host b \(process \d+\) {how}\n", result.stderr)
    assert launcher.nothing_left(0.5)


def test_an_abort_is_not_the_verdict_if_a_later_rank_of_the_same_host_died_before(
    launcher: Launcher, place: tuple[str, ...]
) -> None:
    """The host daemon is held up until both ranks are dead; the system then tells it of the earlier rank first."""
    dies = "kill -STOP $PPID; (sleep 1; kill -CONT $PPID) & kill -SEGV $$"
    script = f"case $KUMIKI_RANK in 3) {dies};; 2) sleep 0.5; kill -ABRT $$;; *) exec sleep 60;; esac"
    result = launcher.run(*place, "-n", "4", "sh", "-c", script)
    assert result.returncode == 128 + 11
    how = r"was killed by signal 11 .*; the other ranks were ended"
    assert re.fullmatch(rf"kumiki-run: rank 3 of 4 .*{how}\n", result.stderr)
    assert launcher.nothing_left(0.5)


@pytest.mark.parametrize(
    ("name", "number", "text"),
    [("KILL", 9, "Killed"), ("TERM", 15, "Terminated"), ("USR1", 10, "User defined signal 1")],
)
def test_a_killed_rank(launcher: Launcher, name: str, number: int, text: str) -> None:
    result = launcher.run("-n", "2", "sh", "-c", f"[ $KUMIKI_RANK = 0 ] && kill -{name} $$; exec sleep 60")
    assert result.returncode == 128 + number
    how = rf"was killed by signal {number} \({text}\); the other ranks were ended"
    assert re.fullmatch(rf"kumiki-run: rank 0 of 2 \(process \d+\) {how}\n", result.stderr)


def test_a_job_of_one_rank_has_no_others(launcher: Launcher) -> None:
    result = launcher.run("sh", "-c", "exit 4")
    assert result.returncode == 4
    assert re.fullmatch(r"kumiki-run: rank 0 of 1 \(process \d+\) exited with code 4\n", result.stderr)


def test_only_the_first_failure_is_told(launcher: Launcher, place: tuple[str, ...]) -> None:
    script = "trap 'exit 9' TERM; [ $KUMIKI_RANK = 2 ] && sleep 0.3 && exit 5; while :; do sleep 0.05; done"
    result = launcher.run(*place, "-n", "4", "sh", "-c", script)
    assert result.returncode == 5
    assert result.stderr.count("kumiki-run:") == 1
    assert "rank 2 of 4" in result.stderr


def test_ranks_that_do_not_want_to_end_are_killed(launcher: Launcher, place: tuple[str, ...]) -> None:
    begin = time.monotonic()
    result = launcher.run(
        *place, "-n", "3", "sh", "-c", "trap '' TERM INT HUP; [ $KUMIKI_RANK = 0 ] && exit 3; sleep 60; sleep 60"
    )
    assert result.returncode == 3
    assert time.monotonic() - begin < ENDED
    assert launcher.nothing_left(0.1)


def test_the_others_may_clean_up(launcher: Launcher, place: tuple[str, ...]) -> None:
    script = (
        "trap 'echo cleaned; exit 0' TERM; [ $KUMIKI_RANK = 0 ] && sleep 0.3 && exit 3; while :; do sleep 0.05; done"
    )
    result = launcher.run(*place, "-n", "2", "sh", "-c", script)
    assert (result.returncode, result.stdout) == (3, "cleaned\n")


def test_stopped_ranks_end_too(launcher: Launcher) -> None:
    begin = time.monotonic()
    result = launcher.run("-n", "2", "sh", "-c", "[ $KUMIKI_RANK = 0 ] && sleep 0.2 && exit 3; kill -STOP $$; sleep 60")
    assert result.returncode == 3
    assert time.monotonic() - begin < ENDED


def test_descendants_of_a_failed_job_end_too(launcher: Launcher) -> None:
    script = """
        sleep 61 &
        setsid sleep 62 &
        (setsid sh -c 'trap "" TERM; sleep 63; sleep 64' &)
        [ $KUMIKI_RANK = 1 ] && sleep 0.2 && exit 6
        wait
    """
    begin = time.monotonic()
    result = launcher.run("-n", "2", "sh", "-c", script)
    assert result.returncode == 6
    assert time.monotonic() - begin < ENDED
    assert launcher.nothing_left(0.1)


def test_what_ranks_leave_behind_ends_with_the_job(launcher: Launcher) -> None:
    begin = time.monotonic()
    result = launcher.run("-n", "2", "sh", "-c", "setsid sleep 60 > /dev/null 2>&1 &")
    assert (result.returncode, result.stderr) == (0, "")
    assert time.monotonic() - begin < ENDED
    assert launcher.nothing_left(0.1)


def test_an_early_good_end_does_not_end_the_others(launcher: Launcher, place: tuple[str, ...]) -> None:
    result = launcher.run(*place, "-n", "2", "sh", "-c", "[ $KUMIKI_RANK = 0 ] || { sleep 0.5; echo late; }")
    assert (result.returncode, result.stdout) == (0, "late\n")


def test_many_ranks_fail_at_once(launcher: Launcher, place: tuple[str, ...]) -> None:
    result = launcher.run(*place, "-n", "32", "sh", "-c", "exit $((KUMIKI_RANK + 1))")
    assert result.stderr.count("kumiki-run:") == 1
    named = re.search(r"rank (\d+) of 32 .* exited with code (\d+)", result.stderr)
    assert named is not None
    assert int(named[1]) + 1 == int(named[2]) == result.returncode


def test_a_rank_of_another_host_that_has_not_left_the_job(launcher: Launcher, remote_shell: str) -> None:
    """The same on one host: job_test.cpp."""
    job = ("--hosts", "a,b", "-n", "4", "--remote-shell", remote_shell, rank_program())
    result = launcher.run(*job, "joined", "0")
    assert result.returncode == 1
    assert re.search(r"rank \d of 4 on host [ab] .* ended without leaving the job", result.stderr)
    assert launcher.run(*job, "left", "0").returncode == 0
