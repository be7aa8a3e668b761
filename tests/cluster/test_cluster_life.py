"""Making, listing, entering and deleting clusters on the command line."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import time
from collections.abc import Callable

import pytest
from clustering import TIME_LIMIT, Hosts, all_namespaces, argv, kumiki, namespaces_of
from kumiki.cluster import making


def listed(name: str) -> dict[str, object] | None:
    """The output of `kumiki cluster list` for one cluster."""
    ended = kumiki("cluster", "list", "--format", "json")
    assert ended.returncode == 0, ended.stderr
    return next((cluster for cluster in json.loads(ended.stdout) if cluster["name"] == name), None)


def test_from_create_to_delete(name: str) -> None:
    created = kumiki("cluster", "create", name, "--hosts", "3", "--rate", "100mbit")
    assert created.returncode == 0, created.stderr
    assert "3 hosts" in created.stdout and "100mbit" in created.stdout
    assert namespaces_of(name) == {f"kumiki-{name}-{part}" for part in ("net", 0, 1, 2)}
    found = listed(name)
    assert found == {
        "name": name,
        "complete": True,
        "rate": "100mbit",
        "bits_per_second": 100_000_000,
        "interface": "eth0",
        "hosts": [
            {"host": i, "namespace": f"kumiki-{name}-{i}", "address": f"10.77.0.{i + 1}", "linked": True}
            for i in range(3)
        ],
    }
    table = kumiki("cluster", "list").stdout
    assert any(name in line and "100mbit" in line and "up" in line for line in table.splitlines())

    deleted = kumiki("cluster", "delete", name)
    assert deleted.returncode == 0, deleted.stderr
    assert not namespaces_of(name)
    again = kumiki("cluster", "delete", name)
    assert again.returncode == 0
    assert f"no cluster '{name}'" in again.stdout
    assert listed(name) is None


def test_a_cluster_is_made_once(name: str, possible: None) -> None:
    """If two commands make it at the same time, one of them fails, and does not harm the other's cluster."""
    making_it = [
        subprocess.Popen(argv("cluster", "create", name), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=TIME_LIMIT)[1] for process in making_it]
    assert sorted(process.returncode == 0 for process in making_it) == [False, True], said
    found = listed(name)
    assert found is not None and found["complete"] is True
    third = kumiki("cluster", "create", name)
    assert third.returncode == 2
    assert f"kumiki cluster delete {name}" in third.stderr


def test_two_may_take_it_away_at_the_same_time(make_cluster: Callable[..., Hosts]) -> None:
    cluster = make_cluster(3)
    taking = [
        subprocess.Popen(argv("cluster", "delete", cluster.name), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=TIME_LIMIT)[1] for process in taking]
    assert [process.returncode for process in taking] == [0, 0], said
    assert not namespaces_of(cluster.name)


def test_a_host_has_its_own_network(cluster: Hosts) -> None:
    told = json.loads(cluster.run(2, "ip", "-json", "address").stdout)
    addresses = {
        device["ifname"]: [entry["local"] for entry in device["addr_info"] if entry["family"] == "inet"]
        for device in told
    }
    assert addresses == {"lo": ["127.0.0.1"], "eth0": ["10.77.0.3"]}


def test_the_machines_own_network_is_not_touched(make_cluster: Callable[..., Hosts]) -> None:
    def devices() -> list[str]:
        told = subprocess.run(("ip", "-json", "link"), capture_output=True, check=True).stdout
        return [device["ifname"] for device in json.loads(told)]

    before = devices()
    make_cluster(2, "1gbit")
    assert devices() == before


def test_exec_on_one_host_is_the_command_itself(cluster: Hosts) -> None:
    ended = kumiki("cluster", "exec", cluster.name, "--host", "1", "--", "sh", "-c", "ip netns identify $$; exit 42")
    assert ended.stdout == f"{cluster.namespaces[1]}\n"
    assert ended.returncode == 42


def test_exec_on_all_hosts_labels_lines_and_returns_the_first_failure(cluster: Hosts) -> None:
    script = "host=$(ip netns identify $$); echo $host; printf oops >&2; exit $(( (${host##*-} + 1) % 4 * 10 ))"
    ended = kumiki("cluster", "exec", cluster.name, "--", "sh", "-c", script)
    assert sorted(ended.stdout.splitlines()) == [f"[host {i}] {cluster.namespaces[i]}" for i in range(4)]
    said = ended.stderr.splitlines()
    assert sorted(line for line in said if line.startswith("[")) == [f"[host {i}] oops" for i in range(4)]
    assert [line for line in said if "exit code" in line] == [
        f"kumiki: the command ended with exit code {code} on host {i}" for i, code in enumerate((10, 20, 30))
    ]
    assert ended.returncode == 10


def test_exec_runs_on_all_hosts_at_the_same_time(cluster: Hosts) -> None:
    begin = time.monotonic()
    assert kumiki("cluster", "exec", cluster.name, "--", "sleep", "1").returncode == 0
    assert time.monotonic() - begin < 3


@pytest.mark.parametrize(("limit", "code"), [("-Sn 12", 0), ("-n 12", 3)])
def test_exec_and_the_limit_of_open_files(cluster: Hosts, limit: str, code: int) -> None:
    """The command raises the limit for itself and restores the user's limit for its command. If this does not suffice,
    it prints a sentence.
    """
    job = shlex.join(argv("cluster", "exec", cluster.name, "--", "sh", "-c", "ulimit -Sn"))
    ended = subprocess.run(("sh", "-c", f"ulimit {limit}; exec {job}"), capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr
    if code == 0:
        assert sorted(ended.stdout.splitlines()) == [f"[host {i}] 12" for i in range(4)]
    else:
        assert "cannot run the command on 4 hosts at once: Too many open files" in ended.stderr
        assert "Traceback" not in ended.stderr


def test_exec_tells_of_a_signal(cluster: Hosts) -> None:
    ended = kumiki("cluster", "exec", cluster.name, "--", "sh", "-c", "kill -9 $$")
    assert ended.returncode == 128 + signal.SIGKILL


def test_exec_does_not_wait_for_what_it_left_running(cluster: Hosts) -> None:
    ended = kumiki("cluster", "exec", cluster.name, "--", "sh", "-c", "sleep 1000 & echo begun")
    assert ended.returncode == 0
    assert ended.stdout.count("begun") == 4
    assert making.delete(cluster.name) == 4


def test_exec_ends_its_commands_at_an_interrupt(cluster: Hosts) -> None:
    running = subprocess.Popen(
        argv("cluster", "exec", cluster.name, "--", "sh", "-c", "sleep 1000 & echo begun; wait"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    for _ in range(4):
        assert "begun" in running.stdout.readline()
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=TIME_LIMIT)
    assert running.returncode == 130
    assert "interrupted" in said
    deadline = time.monotonic() + TIME_LIMIT
    while cluster.processes():  # killed, but not yet gone
        assert time.monotonic() < deadline


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("exec", "NAME"), "the command is missing"),
        (("exec", "NAME", "--host", "4", "--", "true"), "has no host 4; its hosts are 0 to 3"),
        (("link", "NAME", "4", "down"), "has no host 4"),
        (("exec", "NAME-x", "--", "true"), "did you mean 'NAME'?"),
    ],
)
def test_wrong_usage_is_a_sentence(cluster: Hosts, arguments: tuple[str, ...], words: str) -> None:
    ended = kumiki("cluster", *(argument.replace("NAME", cluster.name) for argument in arguments))
    assert ended.returncode == 2
    assert words.replace("NAME", cluster.name) in ended.stderr


def test_an_unknown_program_is_a_sentence(cluster: Hosts) -> None:
    ended = kumiki("cluster", "exec", cluster.name, "--host", "0", "--", "no-such-program")
    assert ended.returncode == 3
    assert ended.stderr == "kumiki: there is no program 'no-such-program'\n"


def test_nothing_is_left(make_cluster: Callable[..., Hosts]) -> None:
    cluster = make_cluster(3, "1gbit")
    names = namespaces_of(cluster.name)
    assert len(names) == 4
    making.delete(cluster.name)
    assert names.isdisjoint(all_namespaces())
