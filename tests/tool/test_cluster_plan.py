"""The plan of a cluster: names, addresses, rates and commands; nothing is changed."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kumiki.cluster import plan
from kumiki.cluster.rate import FRAME_BYTES, LEAST, MOST, Rate
from kumiki.errors import ExitCode, UserError
from kumiki.hosts.launch import named_cluster

LETTERS = string.ascii_letters + string.digits
names = st.builds(str.__add__, st.sampled_from(LETTERS), st.text(LETTERS + "-", max_size=plan.LONGEST_NAME - 1))


@given(names)
def test_good_names(name: str) -> None:
    assert plan.check_name(name) == name


@pytest.mark.parametrize("name", ["", "-a", "a b", "a_b", "a/b", "a.b", "a\n", "ä", "a" * 21, "--all"])
def test_bad_names(name: str) -> None:
    with pytest.raises(UserError) as problem:
        plan.check_name(name)
    assert problem.value.code is ExitCode.USAGE


@given(names, st.integers(0, plan.MOST_HOSTS - 1))
def test_a_namespace_tells_its_cluster(name: str, host: int) -> None:
    assert plan.belongs_to(plan.host_namespace(name, host)) == (name, host)
    assert plan.belongs_to(plan.network_namespace(name)) == (name, None)


@given(names, names, st.integers(0, 99), st.integers(0, 99))
def test_no_two_clusters_share_a_namespace(one: str, other: str, host: int, other_host: int) -> None:
    first = {plan.network_namespace(one), plan.host_namespace(one, host)}
    second = {plan.network_namespace(other), plan.host_namespace(other, other_host)}
    assert one == other or first.isdisjoint(second)


@pytest.mark.parametrize(
    "namespace",
    ["na", "kumiki-a", "kumiki-a-", "kumiki--0", "kumiki-a-01", "x-kumiki-a-0", "kumiki-a-x", "kumiki-a_b-0"],
)
def test_other_namespaces_are_left_alone(namespace: str) -> None:
    assert plan.belongs_to(namespace) is None


def test_addresses_are_all_different() -> None:
    addresses = [plan.address(host) for host in range(plan.MOST_HOSTS)]
    assert addresses[:2] == ["10.77.0.1", "10.77.0.2"] and addresses[255] == "10.77.1.0"
    assert len(set(addresses)) == plan.MOST_HOSTS


@given(st.integers(0, plan.MOST_HOSTS - 1))
def test_names_of_devices_fit(host: int) -> None:
    assert len(plan.port(host)) <= 15


@pytest.mark.parametrize(
    ("text", "bits", "said"),
    [
        ("100mbit", 10**8, "100mbit"),
        ("2.5gbit", 25 * 10**8, "2.5gbit"),
        ("1000mbit", 10**9, "1gbit"),
        ("1GBit", 10**9, "1gbit"),
        ("1500kbit", 1_500_000, "1.5mbit"),
        ("10000000bit", 10**7, "10mbit"),
    ],
)
def test_rates(text: str, bits: int, said: str) -> None:
    assert Rate.parse(text).bits_per_second == bits
    assert str(Rate.parse(text)) == said


@pytest.mark.parametrize(
    "text", ["", "100", "mbit", "-1mbit", "100mbps", "0mbit", "999kbit", "101gbit", "1e3mbit", "1tbit"]
)
def test_bad_rates(text: str) -> None:
    with pytest.raises(UserError, match="100mbit"):
        Rate.parse(text)


@given(st.integers(LEAST // 10**6, MOST // 10**6))
def test_a_rate_is_read_as_it_is_written(megabits: int) -> None:
    rate = Rate(megabits * 10**6)
    assert Rate.parse(str(rate)) == rate


@given(st.integers(LEAST, MOST))
def test_a_bucket_holds_a_frame_and_little_more_than_timers_need(bits: int) -> None:
    rate = Rate(bits)
    assert rate.burst_bytes >= 2 * FRAME_BYTES
    assert rate.burst_bytes <= max(2 * FRAME_BYTES, bits / 8 * 1e-3 + 1)
    assert rate.queue_bytes > rate.burst_bytes


def test_a_fast_ethernet_sends_frame_by_frame() -> None:
    assert Rate.parse("100mbit").bucket() == (
        *("tbf", "rate", "100000000bit", "burst", "3076b", "limit", "500000b", "overhead", "24"),
    )


def test_the_plan_of_a_cluster() -> None:
    steps = list(plan.creation("t", 2, None))
    assert [step.namespace for step in steps if step.namespace] == ["kumiki-t-net", "kumiki-t-0", "kumiki-t-1"]
    assert steps[0].namespace == "kumiki-t-net"  # claims the name
    assert steps[-1].arguments == (
        "ip",
        "-n",
        "kumiki-t-net",
        "link",
        "set",
        "bridge",
        "up",
    )  # shows that it is complete
    commands = [" ".join(step.arguments) for step in steps]
    assert "ip -n kumiki-t-1 address add 10.77.0.2/16 dev eth0" in commands
    assert not [command for command in commands if command.startswith("tc")]


def test_every_step_stays_inside_the_clusters_namespaces() -> None:
    for step in plan.creation("t", 3, Rate.parse("1gbit")):
        inside = step.arguments[:2] in {("ip", "-n"), ("tc", "-n")} and step.arguments[2].startswith("kumiki-t-")
        assert inside or step.arguments[:3] == ("ip", "netns", "add")
        assert inside or step.arguments[3].startswith("kumiki-t-")


def test_both_ends_of_each_link_are_limited() -> None:
    limited = [step.arguments for step in plan.creation("t", 2, Rate.parse("1gbit")) if step.arguments[0] == "tc"]
    assert [(words[2], words[6]) for words in limited] == [
        ("kumiki-t-0", "eth0"),
        ("kumiki-t-net", "host0"),
        ("kumiki-t-1", "eth0"),
        ("kumiki-t-net", "host1"),
    ]
    assert all(re.search(r"root tbf rate 1000000000bit", " ".join(words)) for words in limited)


@pytest.mark.parametrize(
    ("arguments", "name", "rest"),
    [
        ((), None, []),
        (("-n", "2", "p"), None, ["-n", "2", "p"]),
        (("--cluster", "a", "-n", "2", "p", "--cluster", "b"), "a", ["-n", "2", "p", "--cluster", "b"]),
        (("--cluster=a", "--", "p", ""), "a", ["--", "p", ""]),
        (("p", "--cluster", "b"), None, ["p", "--cluster", "b"]),
        (("--clusters", "b"), None, ["--clusters", "b"]),
    ],
)
def test_the_cluster_of_a_run(arguments: tuple[str, ...], name: str | None, rest: list[str]) -> None:
    assert named_cluster(arguments) == (name, rest)


@pytest.mark.parametrize("arguments", [("--cluster",), ("--cluster=",), ("--cluster", "-n", "2")])
def test_a_run_without_the_clusters_name(arguments: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match="cannot be the name of a cluster"):
        named_cluster(arguments)
