"""What the hosts of a cluster can reach, and how fast."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from clustering import TIME_LIMIT, Hosts, kumiki
from kumiki.cluster import inspection

ATTEMPTS = 3
"""A busy machine may take the processor away from a transfer; it never makes a link faster."""
CONNECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], 5002), float(sys.argv[2]))
except ConnectionRefusedError:
    print("refused")  # somebody is there and said no
except OSError:
    print("unreachable")
"""
ECHO = """
import socket
server = socket.create_server(("0.0.0.0", 5002))
print("ready", flush=True)
connection, (peer, _) = server.accept()
connection.sendall(connection.recv(100) + peer.encode())
"""
ASK = """
import socket, sys
connection = socket.create_connection((sys.argv[1], 5002), 5)
connection.sendall(b"hello ")
print(connection.recv(100).decode())
"""


def reach(cluster: Hosts, host: int, address: str, seconds: float = 0.5) -> str:
    """The result of connecting to a closed port: refused if a host is there, otherwise nothing."""
    return cluster.run(host, sys.executable, "-c", CONNECT, address, str(seconds)).stdout.strip()


def test_every_host_reaches_every_other(cluster: Hosts) -> None:
    for host in range(4):
        for other in range(4):
            if other != host:
                assert reach(cluster, host, cluster.addresses[other]) == "refused"


def test_a_message_comes_back(cluster: Hosts) -> None:
    server = cluster.start(3, sys.executable, "-c", ECHO)
    assert server.stdout is not None and server.stdout.readline() == "ready\n"
    assert cluster.run(1, sys.executable, "-c", ASK, cluster.addresses[3]).stdout == f"hello {cluster.addresses[1]}\n"
    assert server.wait(TIME_LIMIT) == 0


def test_loopback_is_up(cluster: Hosts) -> None:
    assert reach(cluster, 0, "127.0.0.1") == "refused"


def test_nothing_leads_outside(cluster: Hosts) -> None:
    assert cluster.run(0, "ip", "route").stdout.split("\n") == [
        "10.77.0.0/16 dev eth0 proto kernel scope link src 10.77.0.1 ",
        "",
    ]
    assert reach(cluster, 0, "192.0.2.1") == "unreachable"


def test_two_clusters_do_not_meet(make_cluster: Callable[..., Hosts]) -> None:
    small, large = make_cluster(2), make_cluster(3)
    names = [cluster.name for cluster in inspection.clusters()]
    assert small.name in names and large.name in names
    assert reach(large, 0, large.addresses[2]) == "refused"
    assert reach(small, 0, large.addresses[2]) == "unreachable"


def test_a_host_that_is_cut_off_is_not_reached_until_it_is_linked_again(cluster: Hosts) -> None:
    def states() -> list[bool]:
        found = inspection.require(cluster.name)
        return [host.linked for host in found.hosts]

    assert kumiki("cluster", "link", cluster.name, "1", "down").returncode == 0
    assert states() == [True, False, True, True]
    assert "cut off: host 1" in kumiki("cluster", "list").stdout
    assert reach(cluster, 0, cluster.addresses[1]) == "unreachable"
    assert reach(cluster, 1, cluster.addresses[0]) == "unreachable"
    assert reach(cluster, 0, cluster.addresses[2]) == "refused"
    assert "NO-CARRIER" in cluster.run(1, "ip", "link", "show", "eth0").stdout
    assert kumiki("cluster", "link", cluster.name, "1", "up").returncode == 0
    assert states() == [True] * 4
    assert reach(cluster, 0, cluster.addresses[1], seconds=5) == "refused"


@pytest.mark.parametrize(("sender", "receiver"), [(0, 1), (1, 0)])
def test_a_link_keeps_its_rate(make_cluster: Callable[..., Hosts], sender: int, receiver: int) -> None:
    cluster = make_cluster(2, "100mbit")
    for attempt in range(ATTEMPTS):
        carried = cluster.transfer(sender, receiver, seconds=1.2)
        assert carried <= 100
        if carried >= 85:
            return
        assert attempt < ATTEMPTS - 1, f"the link carries {carried:.1f} Mbit/s only"


@pytest.mark.parametrize(("sender", "receiver"), [(0, 2), (2, 0)], ids=["the host's", "the bridge's"])
def test_each_end_of_a_link_holds_the_rate(make_cluster: Callable[..., Hosts], sender: int, receiver: int) -> None:
    cluster = make_cluster(3, "100mbit")
    for namespace, device in ((cluster.namespaces[2], "eth0"), (f"kumiki-{cluster.name}-net", "host2")):
        removed = cluster.run(0, "tc", "-n", namespace, "qdisc", "delete", "dev", device, "root")
        assert removed.returncode == 0, removed.stderr
    # Host 2's link is free now: the rate of its exchange with host 0 is limited by one end of host 0's link.
    assert 30 <= cluster.transfer(sender, receiver, seconds=0.8) <= 100


def test_without_a_rate_links_are_fast(make_cluster: Callable[..., Hosts]) -> None:
    cluster = make_cluster(2)
    assert cluster.cluster.rate is None
    assert cluster.transfer(0, 1, seconds=0.5) > 500
