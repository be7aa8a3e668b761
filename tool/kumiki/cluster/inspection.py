"""The existing clusters, as the system reports them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kumiki.cluster import plan, system
from kumiki.cluster.rate import Rate
from kumiki.errors import UserError, nearest


@dataclass(frozen=True)
class Host:
    """A host of a cluster."""

    number: int
    namespace: str
    address: str
    linked: bool
    """Whether its cable is plugged in."""


@dataclass(frozen=True)
class Cluster:
    """The present state of a cluster."""

    name: str
    hosts: tuple[Host, ...]
    rate: Rate | None
    """The rate of its slowest link; None if no link is limited."""
    complete: bool
    """Whether it was made completely, and no part of it has been removed since."""

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces of its hosts."""
        return tuple(host.namespace for host in self.hosts)

    def host(self, number: int) -> Host:
        """One of its hosts; raises UserError if there is no host of this number."""
        if not 0 <= number < len(self.hosts):
            last = len(self.hosts) - 1
            raise UserError(f"cluster '{self.name}' has no host {number}; its hosts are 0 to {last}")
        return self.hosts[number]

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "complete": self.complete,
            "rate": str(self.rate) if self.rate else None,
            "bits_per_second": self.rate.bits_per_second if self.rate else None,
            "interface": plan.INTERFACE,
            "hosts": [
                {"host": host.number, "namespace": host.namespace, "address": host.address, "linked": host.linked}
                for host in self.hosts
            ],
        }


def namespaces() -> dict[str, list[str]]:
    """The namespaces of each cluster by its name, complete or not."""
    found: dict[str, list[str]] = {}
    for entry in system.ask("ip", "-json", "netns", "list"):
        if part := plan.belongs_to(entry["name"]):
            found.setdefault(part[0], []).append(entry["name"])
    return found


def clusters() -> list[Cluster]:
    """All clusters, by name."""
    return [_describe(name, parts) for name, parts in sorted(namespaces().items())]


def find(name: str) -> Cluster | None:
    parts = namespaces().get(name)
    return _describe(name, parts) if parts else None


def require(name: str) -> Cluster:
    """The cluster of this name; raises UserError if there is none, or if it cannot be used."""
    known = namespaces()
    if name not in known:
        hint = nearest(name, list(known)) or f"; make it: kumiki cluster create {name}"
        raise UserError(f"there is no cluster '{name}'{hint}")
    cluster = _describe(name, known[name])
    if not cluster.complete:
        raise UserError(f"cluster '{name}' is not complete; delete it: kumiki cluster delete {name}")
    return cluster


def _describe(name: str, parts: Sequence[str]) -> Cluster:
    network = plan.network_namespace(name)
    devices: dict[str, bool] = {}
    rates: list[int] = []
    if network in parts:
        try:
            links = system.ask("ip", "-n", network, "-json", "link", "show")
            buckets = system.ask("tc", "-n", network, "-json", "qdisc", "show")
        except system.Failed:  # it is being removed at this moment
            links, buckets = [], []
        devices = {link["ifname"]: "UP" in link["flags"] for link in links}
        rates = [8 * bucket["options"]["rate"] for bucket in buckets if bucket["kind"] == "tbf"]
    numbers = sorted(part[1] for part in map(plan.belongs_to, parts) if part and part[1] is not None)
    hosts = tuple(
        Host(number, plan.host_namespace(name, number), plan.address(number), devices.get(plan.port(number), False))
        for number in numbers
    )
    ports = {plan.port(number) for number in range(len(hosts))}
    complete = devices.get(plan.BRIDGE, False) and bool(ports) and ports == devices.keys() - {"lo", plan.BRIDGE}
    return Cluster(name, hosts, Rate(min(rates)) if rates else None, complete)
