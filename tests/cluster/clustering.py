"""Clusters for tests: made with unique names, entered, and always removed."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from kumiki.cluster import inspection, making, plan, requirements
from kumiki.cluster.rate import Rate

TIME_LIMIT = 30
TRANSFER = Path(__file__).with_name("transfer.py")
_numbers = itertools.count()


@dataclass(frozen=True)
class Hosts:
    """A cluster, and functions that run commands on its hosts."""

    cluster: inspection.Cluster

    @property
    def name(self) -> str:
        return self.cluster.name

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(host.address for host in self.cluster.hosts)

    @property
    def namespaces(self) -> tuple[str, ...]:
        return self.cluster.namespaces

    def run(self, host: int, *command: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs a command on a host to its end."""
        arguments = plan.inside(self.namespaces[host], command)
        return subprocess.run(arguments, capture_output=True, text=True, timeout=TIME_LIMIT, check=False, **options)

    def start(self, host: int, *command: str, **options: Any) -> subprocess.Popen[str]:
        """Starts a command on a host; a command that still runs at the end of the test is ended with the cluster."""
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen(plan.inside(self.namespaces[host], command), text=True, **streams)

    def processes(self) -> list[int]:
        """The processes on the hosts."""
        listed = [
            subprocess.run(("ip", "netns", "pids", each), capture_output=True, text=True, check=True).stdout
            for each in self.namespaces
        ]
        return [int(number) for numbers in listed for number in numbers.split()]

    def transfer(self, sender: int, receiver: int, seconds: float) -> float:
        """The rate of one TCP connection from one host to another, in Mbit/s."""
        server = self.start(receiver, sys.executable, str(TRANSFER), "receive")
        assert server.stdout is not None and server.stdout.readline() == "ready\n"
        sent = self.run(sender, sys.executable, str(TRANSFER), "send", self.addresses[receiver], str(seconds))
        assert sent.returncode == 0, sent.stderr
        output, errors = server.communicate(timeout=TIME_LIMIT)
        assert server.returncode == 0, errors
        return float(output)


@contextmanager
def new_cluster(hosts: int, rate: str | None = None) -> Iterator[Hosts]:
    """Makes a cluster and removes it at the end, with everything that runs in it."""
    name = unique_name()
    try:
        yield Hosts(making.create(name, hosts, Rate.parse(rate) if rate else None))
    finally:
        making.delete(name)


def unique_name() -> str:
    return f"test-{os.getpid()}-{next(_numbers)}"


def kumiki(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command line to its end."""
    return subprocess.run(argv(*arguments), capture_output=True, text=True, timeout=TIME_LIMIT, check=False)


def argv(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kumiki", *arguments]


def all_namespaces() -> set[str]:
    """Every network namespace that has a name, whichever program made it."""
    folder = Path("/run/netns")
    return {entry.name for entry in folder.iterdir()} if folder.exists() else set()


def namespaces_of(name: str) -> set[str]:
    """The namespaces of a cluster of this name, complete or not."""
    return {namespace for namespace in all_namespaces() if namespace.startswith(f"kumiki-{name}-")}


@lru_cache
def lacking() -> str | None:
    """Why no cluster can be made here; None if one can.

    This does not use Kumiki's own plan, so that an error in it fails the tests instead of skipping them.
    """
    if (lack := requirements.lack()) is not None:
        return f"clusters need {lack.need}"
    probe = f"kumiki-probe-{os.getpid()}"
    inside = ("-n", probe)
    try:
        for command in (
            ("ip", "netns", "add", probe),
            ("ip", *inside, "link", "add", "bridge", "type", "bridge"),
            ("ip", *inside, "link", "add", "one", "type", "veth", "peer", "name", "other"),
            ("tc", *inside, "qdisc", "add", "dev", "one", "root", "tbf", "rate", "1mbit", "burst", "4k", "limit", "9k"),
        ):
            ended = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
            if ended.returncode != 0:
                return f"clusters are not possible here: '{' '.join(command)}' failed: {ended.stderr.strip()}"
    finally:
        subprocess.run(("ip", "netns", "delete", probe), capture_output=True, timeout=TIME_LIMIT, check=False)
    return None
