"""One process of a job dies or is stopped, or a host is cut off, at a random moment: many times, several at once."""

from __future__ import annotations

import os
import queue
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from clustering import Hosts
from joining_jobs import build, kumiki_run, need_module
from kumiki.cluster import plan
from rounds import (
    DEATHS,
    NOTICED_WITHIN,
    SIDE_BY_SIDE,
    Job,
    kill_a_host_daemon,
    kill_a_rank,
    kill_the_launcher,
    rounds,
)

ON_ONE_HOST = int(os.environ.get("TEST_FAULT_ROUNDS", "200"))
OVER_HOSTS = int(os.environ.get("TEST_FAULT_ROUNDS", "50"))
HOSTS = 3
DEATHS_OVER_HOSTS = tuple(death for death in DEATHS if death is not signal.SIGABRT)
"""UCX 1.13 aborts a rank whose peer dies while the two connect. The launcher then names the peer, unless the peer was
aborted, too: nothing tells which abort caused the other."""


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build(tmp_path_factory.mktemp("faulty"), source=Path(__file__).with_name("faulty.cpp")))


def shared_memory_of_kumiki() -> set[str]:
    folder = Path("/dev/shm")
    return {entry.name for entry in folder.iterdir() if "kumiki" in entry.name} if folder.exists() else set()


def test_random_faults_on_one_host(faulty: str, tmp_path: Path) -> None:
    before = shared_memory_of_kumiki()

    def one(seed: int) -> None:
        chance = random.Random(seed)
        ranks = chance.randrange(2, 6)
        job = Job([str(kumiki_run()), "-n", str(ranks), "-t", "1", faulty, "endless"], tmp_path / str(seed))
        try:
            fault = chance.choices(["death", "stop", "launcher", "daemon"], [80, 4, 8, 8])[0]
            if fault == "death":
                kill_a_rank(job, ranks, chance, chance.choice(DEATHS))
            elif fault == "stop":
                kill_a_rank(job, ranks, chance, signal.SIGSTOP)
            elif fault == "launcher":
                kill_the_launcher(job, chance)
            else:
                kill_a_host_daemon(job, chance)
            job.expect_nothing_left()
        finally:
            job.end()

    rounds(ON_ONE_HOST, one)
    assert shared_memory_of_kumiki() == before


def cut_a_host_off(job: Job, ranks: int, chance: random.Random, hosts: Hosts) -> None:
    """Both sides miss the other; which of them reports it first depends on chance.

    A cut while ranks connect may delay the connection of the other two hosts, too, beyond the timeout; their ranks then
    say that they have never heard each other.
    """
    job.wait_for(job.ranks, ranks)
    host = chance.randrange(HOSTS)
    time.sleep(chance.random() ** 3 * 0.6)
    cable(hosts, host, up=False)
    try:
        code, said = job.ending(NOTICED_WITHIN)
    finally:
        cable(hosts, host, up=True)
    if "is switched off or has no link" in said:  # a rank joined only after the cut; its program aborts
        assert code == 128 + signal.SIGABRT, f"code {code}: {said}"
        return
    assert code == 3, f"code {code}: {said}"
    missed = re.search(r"rank \d on host (\S+) ends the job: host (\S+) has shown no sign of life", said)
    assert missed, said
    assert hosts.namespaces[host] in missed.groups() or "and none since this rank joined" in said, said


def cable(hosts: Hosts, host: int, up: bool) -> None:
    subprocess.run(plan.link(hosts.name, host, up).arguments, check=True, timeout=30)


def test_random_faults_over_hosts(faulty: str, tmp_path: Path, make_cluster: Callable[..., Hosts]) -> None:
    need_module("kumiki-ucx", "libucx-dev")
    free: queue.SimpleQueue[Hosts] = queue.SimpleQueue()
    for _ in range(min(SIDE_BY_SIDE, OVER_HOSTS)):
        free.put(make_cluster(HOSTS))

    def one(seed: int) -> None:
        chance = random.Random(seed)
        hosts = free.get()
        ranks = HOSTS * chance.randrange(1, 3)
        where = ["--hosts", ",".join(hosts.namespaces), "--remote-shell", "ip netns exec", "--interface", "eth0"]
        command = [str(kumiki_run()), *where, "-n", str(ranks), "-t", "1", faulty, "endless"]
        job = Job(command, tmp_path / str(seed), hosts.namespaces)
        try:
            fault = chance.choices(["death", "stop", "cut", "launcher", "daemon"], [50, 20, 20, 5, 5])[0]
            if fault == "death":
                kill_a_rank(job, ranks, chance, chance.choice(DEATHS_OVER_HOSTS))
            elif fault == "stop":
                kill_a_rank(job, ranks, chance, signal.SIGSTOP)
            elif fault == "cut":
                cut_a_host_off(job, ranks, chance, hosts)
            elif fault == "launcher":
                kill_the_launcher(job, chance)
            else:
                kill_a_host_daemon(job, chance)
            job.expect_nothing_left()
        finally:
            job.end()
            free.put(hosts)

    rounds(OVER_HOSTS, one)
