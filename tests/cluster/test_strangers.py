"""A stranger that reaches a rank's port can do no harm; and the interface on which ranks can be reached."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from clustering import TIME_LIMIT, Hosts
from joining_jobs import build, library_folder, need_module

BESIEGED = Path(__file__).with_name("besieged.cpp")
STRANGER = Path(__file__).with_name("stranger.cpp")
LISTENING = "0A"
"""A socket's state in /proc/net/tcp."""


@pytest.fixture(scope="module")
def besieged(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A job of two ranks that works until its input ends."""
    need_module("kumiki-ucx", "libucx-dev")
    return str(build(tmp_path_factory.mktemp("besieged"), source=BESIEGED))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that uses UCX only."""
    if shutil.which("c++") is None:
        pytest.skip("c++ is not installed")
    program = tmp_path_factory.mktemp("stranger") / "stranger"
    command = ("c++", "-std=c++20", "-o", str(program), str(STRANGER), "-lucp", "-lucs")
    built = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT * 4, check=False)
    assert built.returncode == 0, built.stderr
    return str(program)


@dataclass
class Siege:
    """A job on the first two hosts of a cluster, which works until it is ended."""

    hosts: Hosts
    job: subprocess.Popen[str]

    def listeners(self, host: int) -> list[tuple[str, int]]:
        """Addresses and ports on which a process listens there."""
        found = []
        for line in self.hosts.run(host, "cat", "/proc/net/tcp").stdout.splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            if state == LISTENING:
                address, port = local.split(":")
                found.append((".".join(str(byte) for byte in reversed(bytes.fromhex(address))), int(port, 16)))
        return found

    def end(self) -> tuple[int, str, str]:
        """Exit code, output and error messages, after the job has ended by itself."""
        output, said = self.job.communicate(timeout=TIME_LIMIT)
        return self.job.returncode, output, said


@pytest.fixture
def besiege(make_cluster: Callable[..., Hosts], besieged: str) -> Iterator[Callable[[Hosts], Siege]]:
    """Starts such a job without naming an interface."""
    jobs = []

    def start(hosts: Hosts) -> Siege:
        run = library_folder().parent / "bin" / "kumiki-run"
        command = [str(run), "--hosts", ",".join(hosts.namespaces[:2]), "--remote-shell", "ip netns exec", besieged]
        clean = {name: value for name, value in os.environ.items() if name != "KUMIKI_INTERFACE"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        job = subprocess.Popen(command, env=clean, text=True, **pipes)
        jobs.append(job)
        assert job.stdout is not None
        assert job.stdout.readline() == "ready\n", job.stderr and job.stderr.read()
        return Siege(hosts, job)

    yield start
    for job in jobs:
        job.kill()
        job.communicate()


@pytest.mark.parametrize("wish", ["change", "guess", "crash"])
@pytest.mark.parametrize("victim", [0, 1])
def test_a_stranger_does_no_harm(
    make_cluster: Callable[..., Hosts], besiege: Callable[[Hosts], Siege], stranger: str, wish: str, victim: int
) -> None:
    siege = besiege(make_cluster(3))
    own, there = siege.hosts.addresses[2], siege.hosts.addresses[victim]
    ((address, port),) = siege.listeners(victim)
    assert address == there
    attack = siege.hosts.run(2, stranger, own, there, str(port), wish)
    assert attack.returncode == 0 and "sent" in attack.stdout, attack.stderr
    code, output, said = siege.end()
    assert (code, output) == (0, "unharmed\n"), said
    complaints = re.findall(r"kumiki: rank (\d) on host \S+ refused (\S+), which is no host of this job", said)
    assert complaints == [(str(victim), own)], said


def test_a_stranger_on_a_host_of_the_job_is_refused_too(
    make_cluster: Callable[..., Hosts], besiege: Callable[[Hosts], Siege], stranger: str
) -> None:
    siege = besiege(make_cluster(2))
    own, there = siege.hosts.addresses[1], siege.hosts.addresses[0]
    ((_, port),) = siege.listeners(0)
    assert siege.hosts.run(1, stranger, own, there, str(port), "crash").returncode == 0
    code, output, said = siege.end()
    assert (code, output) == (0, "unharmed\n"), said
    assert said.count("refused a message without this job's key") == 1
    assert f"nobody is connected but this job's own hosts ({there}, {own})" in said


def test_ranks_listen_where_the_others_are_and_nowhere_else(
    make_cluster: Callable[..., Hosts], besiege: Callable[[Hosts], Siege]
) -> None:
    hosts = make_cluster(2)
    for host, namespace in enumerate(hosts.namespaces):
        for words in (
            "link add first type veth peer name aside",
            f"addr add 192.168.{55 + host}.1/24 dev first",  # a network that only this host has
            "addr add 172.17.0.1/16 dev aside",  # the same on every host, like the bridges of container systems
            "link set first up",
            "link set aside up",
        ):
            made = hosts.run(0, "ip", "-n", namespace, *words.split())
            assert made.returncode == 0, made.stderr
    siege = besiege(hosts)
    for host in range(2):
        assert [address for address, _ in siege.listeners(host)] == [hosts.addresses[host]]
    assert siege.end()[:2] == (0, "unharmed\n")
