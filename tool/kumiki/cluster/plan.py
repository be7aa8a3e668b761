"""The parts of a cluster and the commands that make it, determined before anything is changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from kumiki.cluster.rate import Rate
from kumiki.errors import UserError

LONGEST_NAME = 20
MOST_HOSTS = 1000
"""A bridge has 1023 ports."""
NETWORK = IPv4Network("10.77.0.0/16")
"""Every cluster uses these addresses: there is no route between clusters, or to the machine's own network."""
INTERFACE = "eth0"
BRIDGE = "bridge"
REMOTE_SHELL = ("ip", "netns", "exec")
"""The command that runs a command on a host; a namespace's name and the command follow."""
NAME = rf"[A-Za-z0-9][A-Za-z0-9-]{{0,{LONGEST_NAME - 1}}}"
NAMESPACE = re.compile(rf"kumiki-(?P<name>{NAME})-(?P<part>net|0|[1-9]\d*)")


@dataclass(frozen=True)
class Step:
    """One command of the creation."""

    arguments: tuple[str, ...]
    namespace: str | None = None
    """The namespace that it makes."""
    module: str | None = None
    """The part of the kernel that it needs."""


def check_name(name: str) -> str:
    """The name itself; raises UserError if it is not a valid name of a cluster."""
    if not re.fullmatch(NAME, name):
        raise UserError(
            f"'{name}' cannot be the name of a cluster: use letters, digits and -, at most {LONGEST_NAME}, and no - "
            "at the start"
        )
    return name


def network_namespace(name: str) -> str:
    """The namespace of the bridge and of the far end of every host's cable."""
    return f"kumiki-{name}-net"


def host_namespace(name: str, host: int) -> str:
    return f"kumiki-{name}-{host}"


def port(host: int) -> str:
    """The far end of a host's cable, on the bridge."""
    return f"host{host}"


def address(host: int) -> str:
    return str(NETWORK[host + 1])


def belongs_to(namespace: str) -> tuple[str, int | None] | None:
    """The cluster of a namespace, and its host number (None: it holds the bridge); None if it belongs to no cluster."""
    found = NAMESPACE.fullmatch(namespace)
    if found is None:
        return None
    return found["name"], None if found["part"] == "net" else int(found["part"])


def is_host(namespace: str) -> bool:
    """Whether this namespace of a cluster is a host; otherwise it holds the bridge."""
    part = belongs_to(namespace)
    return part is not None and part[1] is not None


def creation(name: str, hosts: int, rate: Rate | None) -> Iterator[Step]:
    """The steps in order.

    The first claims the name: of two that make the same cluster at the same time, one fails there. The last starts the
    bridge, so that a bridge that is down tells of a cluster that was never finished.
    """
    network = network_namespace(name)
    yield Step(("ip", "netns", "add", network), namespace=network)
    yield Step(("ip", "-n", network, "link", "add", BRIDGE, "type", "bridge", "forward_delay", "0"), module="bridge")
    for host in range(hosts):
        yield from _host(name, host, rate)
    yield Step(("ip", "-n", network, "link", "set", BRIDGE, "up"))


def _host(name: str, host: int, rate: Rate | None) -> Iterator[Step]:
    network, namespace, far_end = network_namespace(name), host_namespace(name, host), port(host)
    yield Step(("ip", "netns", "add", namespace), namespace=namespace)
    inside, outside = ("ip", "-n", namespace), ("ip", "-n", network)
    yield Step((*inside, "link", "set", "lo", "up"))
    cable = ("link", "add", far_end, "type", "veth", "peer", "name", INTERFACE, "netns", namespace)
    yield Step((*outside, *cable), module="veth")
    yield Step((*inside, "address", "add", f"{address(host)}/{NETWORK.prefixlen}", "dev", INTERFACE))
    if rate is not None:
        for end, device in ((namespace, INTERFACE), (network, far_end)):
            arguments = ("tc", "-n", end, "qdisc", "add", "dev", device, "root", *rate.bucket())
            yield Step(arguments, module="sch_tbf")
    yield Step((*inside, "link", "set", INTERFACE, "up"))
    yield Step((*outside, "link", "set", far_end, "master", BRIDGE, "up"))


def link(name: str, host: int, up: bool) -> Step:
    """Plugs in or unplugs a host's cable at the bridge; the host sees that its link is down, as with a real cable."""
    state = "up" if up else "down"
    return Step(("ip", "-n", network_namespace(name), "link", "set", port(host), state))


def inside(namespace: str, command: Sequence[str]) -> list[str]:
    """The command line that runs `command` on a host."""
    return [*REMOTE_SHELL, namespace, *command]
