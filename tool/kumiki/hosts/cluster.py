"""The hosts of a cluster of this machine."""

from __future__ import annotations

from kumiki.cluster import inspection, plan, requirements
from kumiki.errors import UserError
from kumiki.hosts.model import Hosts


def of_cluster(name: str) -> Hosts:
    """Raises UserError if there is no such cluster, or if it has fewer than two hosts or one that is cut off."""
    requirements.require()
    cluster = inspection.require(plan.check_name(name))
    if len(cluster.hosts) < 2:
        raise UserError(
            f"cluster '{name}' has one host, and an evaluation over a network needs two; "
            f"make it again: kumiki cluster delete {name} && kumiki cluster create {name} --hosts 2"
        )
    if cut_off := [str(host.number) for host in cluster.hosts if not host.linked]:
        raise UserError(
            f"cluster '{name}': host {', '.join(cut_off)} is cut off; plug it in: "
            f"kumiki cluster link {name} {cut_off[0]} up"
        )
    return as_hosts(cluster)


def as_hosts(cluster: inspection.Cluster) -> Hosts:
    """The hosts, whatever state the cluster is in."""
    rate = cluster.rate
    return Hosts(
        cluster.name,
        cluster.namespaces,
        plan.REMOTE_SHELL,
        plan.INTERFACE,
        str(rate) if rate else None,
        rate.bits_per_second if rate else None,
    )
