"""How the others react when a host is cut off, or a rank on another host is stopped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from clustering import Hosts
from jobs import Jobs
from joining_jobs import build

TIMEOUT = 2
"""KUMIKI_TIMEOUT of these jobs, in seconds."""
NOTICED_WITHIN = TIMEOUT + 2.5
"""Heartbeats are sent five times in a timeout; then the launcher ends the others."""
RANKS = 6
ENDLESS = ("laplace", "--form", "hybrid", "--size", "200", "--iterations", "1000000000")


@pytest.fixture
def jobs(make_cluster: Callable[..., Hosts]) -> Iterator[Jobs]:
    """A cluster of three hosts, on which endless jobs run."""
    jobs = Jobs(make_cluster(3), {"KUMIKI_TIMEOUT": str(TIMEOUT)})
    yield jobs
    jobs.end()


def ending(job: subprocess.Popen[str]) -> tuple[int, str, float]:
    """Exit code, output, and the seconds until the end."""
    start = time.monotonic()
    _, said = job.communicate(timeout=30)
    return job.returncode, said, time.monotonic() - start


def test_a_host_that_is_cut_off_is_missed(jobs: Jobs) -> None:
    job = jobs.start(RANKS, *ENDLESS)
    jobs.wait_for_ranks(RANKS)
    jobs.link(1, "down")
    code, said, seconds = ending(job)
    jobs.link(1, "up")
    assert code == 3
    # Both sides miss the other; which of them reports it first depends on chance.
    assert re.search(rf"rank \d on host \S+ ends the job: host ({'|'.join(jobs.hosts.namespaces)}) has shown", said)
    assert "no sign of life for 2 s" in said
    assert seconds < NOTICED_WITHIN
    assert jobs.nothing_left()


@pytest.mark.parametrize("lock", [3, 2, 0], ids=["holder-is-manager", "manager-beside-holder", "manager-elsewhere"])
def test_a_host_that_is_cut_off_with_a_lock_is_missed(jobs: Jobs, tmp_path: Path, lock: int) -> None:
    """Rank 3, on the second host, has the lock; all others wait for it."""
    program = build(tmp_path, source=Path(__file__).parents[1] / "launch" / "holds_lock.cpp")
    job = jobs.start(RANKS, str(program), "3", str(lock), "lives")
    jobs.wait_for_ranks(RANKS)
    jobs.link(1, "down")
    code, said, seconds = ending(job)
    jobs.link(1, "up")
    assert code == 3, said
    assert re.search(rf"ends the job: host ({'|'.join(jobs.hosts.namespaces)}) has shown no sign of life for 2 s", said)
    assert seconds < NOTICED_WITHIN
    assert jobs.nothing_left()


@pytest.mark.parametrize("local", [0, 1], ids=["leader", "follower"])
def test_a_rank_that_is_stopped_is_named(jobs: Jobs, local: int) -> None:
    job = jobs.start(RANKS, *ENDLESS)
    process = jobs.wait_for_ranks(RANKS)[2 + local]
    os.kill(process, signal.SIGSTOP)
    code, said, seconds = ending(job)
    who = f"rank {2 + local} of {RANKS} on host {jobs.hosts.namespaces[1]} (process {process})"
    assert code == 3
    assert said.startswith(f"kumiki-run: {who} was stopped and not continued for {TIMEOUT} s (KUMIKI_TIMEOUT)")
    assert said.count("\n") == 1
    assert seconds < NOTICED_WITHIN
    assert jobs.nothing_left()


@pytest.mark.parametrize("how", ["one", "whole-host", "job"])
def test_who_is_stopped_on_purpose_is_waited_for(jobs: Jobs, how: str) -> None:
    """The job waits twice as long as for a silent host, and then continues."""
    if how != "job":
        jobs.environment["KUMIKI_STOPPED"] = "wait"
    job = jobs.start(RANKS, "laplace", "--form", "hybrid", "--size", "200", "--iterations", "200000")
    ranks = jobs.wait_for_ranks(RANKS)
    chosen = {"one": [2], "whole-host": [2, 3], "job": []}[how]
    for rank in chosen:
        os.kill(ranks[rank], signal.SIGSTOP)
    if how == "job":
        job.send_signal(signal.SIGTSTP)
    time.sleep(2 * TIMEOUT)
    for rank in chosen:
        os.kill(ranks[rank], signal.SIGCONT)
    if how == "job":
        job.send_signal(signal.SIGCONT)
    time.sleep(TIMEOUT)
    assert job.poll() in (None, 0)
    job.send_signal(signal.SIGTERM)
    code, said, _ = ending(job)
    assert code in (0, 128 + signal.SIGTERM)
    assert [line for line in said.splitlines() if "is stopped; the job waits" not in line] == []
    assert jobs.nothing_left()
