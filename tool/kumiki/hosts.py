"""The hosts that an evaluation runs over: how many there are, how they are reached, and what is recorded of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Hosts:
    """Hosts of one cluster, in order."""

    cluster: str
    names: tuple[str, ...]
    agent: tuple[str, ...]
    """What runs a command on a host: its name and the command follow."""
    interface: str
    rate: str | None = None
    """Of each host's link; None: it is not limited."""
    bits_per_second: int | None = None

    def __len__(self) -> int:
        return len(self.names)

    def for_ranks(self, ranks: int) -> Hosts:
        """The first of them, when there are fewer ranks than hosts."""
        return replace(self, names=self.names[:ranks])

    @property
    def launcher_options(self) -> tuple[str, ...]:
        """What kumiki-run is told."""
        hosts = ("--hosts", ",".join(self.names))
        return (*hosts, "--agent", " ".join(self.agent), "--interface", self.interface)

    @property
    def entrance(self) -> tuple[str, ...]:
        """What runs a command on the first host: an mpirun must be where the other hosts can connect to it."""
        return (*self.agent, self.names[0])

    def as_dict(self) -> dict[str, Any]:
        """As results.json records them."""
        return {
            "name": self.cluster,
            "hosts": len(self.names),
            "interface": self.interface,
            "rate": self.rate,
            "bits_per_second": self.bits_per_second,
        }


def of_cluster(name: str) -> Hosts:
    """The hosts of a cluster of this machine; raises Problem when there is none, or fewer than two hosts."""
    from kumiki.cluster import inspection, plan, requirements
    from kumiki.problem import Problem

    requirements.require()
    cluster = inspection.require(plan.check_name(name))
    if len(cluster.hosts) < 2:
        raise Problem(
            f"cluster '{name}' has one host, and an evaluation over a network needs two; "
            f"make it anew: kumiki cluster delete {name} && kumiki cluster create {name} --hosts 2"
        )
    if cut_off := [str(host.number) for host in cluster.hosts if not host.linked]:
        raise Problem(
            f"cluster '{name}': host {', '.join(cut_off)} is cut off; plug it in: "
            f"kumiki cluster link {name} {cut_off[0]} up"
        )
    rate = cluster.rate
    return Hosts(
        cluster.name,
        cluster.namespaces,
        plan.AGENT,
        plan.INTERFACE,
        str(rate) if rate else None,
        rate.bits_per_second if rate else None,
    )
