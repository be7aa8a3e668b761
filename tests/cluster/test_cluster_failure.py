"""Failures while a cluster is made or deleted: it exists either completely or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest
from clustering import TIME_LIMIT, Hosts, argv, kumiki, namespaces_of
from kumiki.cluster import inspection, making, plan
from kumiki.cluster.plan import Step
from kumiki.cluster.rate import Rate
from kumiki.errors import ExitCode, UserError

RATE = Rate.parse("100mbit")
STEPS = len(list(plan.creation("x", 2, RATE)))


def cut_plan(monkeypatch: pytest.MonkeyPatch, after: int, happens: Callable[[], Step]) -> None:
    """Makes something happen after this many steps of the plan."""
    whole = plan.creation

    def cut(name: str, hosts: int, rate: Rate | None) -> Iterator[Step]:
        for number, step in enumerate(whole(name, hosts, rate)):
            if number == after:
                yield happens()
            yield step

    monkeypatch.setattr(plan, "creation", cut)


@pytest.mark.parametrize("after", range(STEPS))
def test_a_step_that_fails_takes_all_back(name: str, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    made: list[set[str]] = []

    def fails() -> Step:
        made.append(namespaces_of(name))
        return Step(("ip", "link", "set", "no-such-device", "up"), module="sch_tbf")

    cut_plan(monkeypatch, after, fails)
    with pytest.raises(UserError) as problem:
        making.create(name, 2, RATE)
    assert "no-such-device" in problem.value.sentence and "modprobe sch_tbf" in problem.value.sentence
    assert problem.value.code is ExitCode.ENVIRONMENT
    assert bool(made[0]) == (after > 0)
    assert not namespaces_of(name)


@pytest.mark.parametrize("after", (0, 1, STEPS // 2, STEPS - 1))
def test_an_interrupt_takes_all_back(name: str, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    def interrupted() -> Step:
        os.kill(os.getpid(), signal.SIGINT)
        return Step(("true",))

    cut_plan(monkeypatch, after, interrupted)
    with pytest.raises(KeyboardInterrupt):
        making.create(name, 2, RATE)
    assert not namespaces_of(name)


def begin_to_make(name: str) -> subprocess.Popen[str]:
    """Returns when a large cluster is half made."""
    running = subprocess.Popen(
        argv("cluster", "create", name, "--hosts", "200"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + TIME_LIMIT
    while len(namespaces_of(name)) < 10:
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return running


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_create_can_be_interrupted(name: str, number: signal.Signals) -> None:
    running = begin_to_make(name)
    running.send_signal(number)
    _, said = running.communicate(timeout=TIME_LIMIT)
    assert running.returncode == 130
    assert "interrupted" in said and "Traceback" not in said
    assert not namespaces_of(name)


def test_what_a_killed_create_leaves_is_told_and_can_be_deleted(name: str) -> None:
    running = begin_to_make(name)
    running.kill()
    running.communicate(timeout=TIME_LIMIT)
    found = inspection.find(name)
    assert found is not None and not found.complete
    assert "not complete" in kumiki("cluster", "list").stdout
    refused = kumiki("cluster", "exec", name, "--", "true")
    assert refused.returncode == 2
    assert f"kumiki cluster delete {name}" in refused.stderr
    assert kumiki("cluster", "delete", name).returncode == 0
    assert not namespaces_of(name)


def test_a_cluster_that_lost_a_host_is_not_complete(cluster: Hosts) -> None:
    subprocess.run(("ip", "netns", "delete", cluster.namespaces[1]), check=True)
    found = inspection.find(cluster.name)
    assert found is not None and not found.complete


def occupy(cluster: Hosts, host: int, script: str) -> subprocess.Popen[str]:
    """Runs a shell script on a host, and returns when the script has reported that it is ready."""
    running = cluster.start(host, "sh", "-c", script)
    assert running.stdout is not None and running.stdout.readline() == "ready\n"
    return running


def test_delete_ends_what_runs_in_it(cluster: Hosts) -> None:
    willing = occupy(cluster, 0, "echo ready; exec sleep 1000")
    with_child = occupy(cluster, 1, "setsid sh -c 'echo ready; exec sleep 1000' & exec sleep 1000")
    ended = kumiki("cluster", "delete", cluster.name)
    assert ended.returncode == 0, ended.stderr
    assert "ended 3 processes" in ended.stdout
    assert willing.wait(TIME_LIMIT) == with_child.wait(TIME_LIMIT) == -signal.SIGTERM
    assert not namespaces_of(cluster.name)


def test_delete_kills_what_does_not_want_to_end(cluster: Hosts) -> None:
    deaf = occupy(cluster, 0, "trap '' TERM; echo ready; while :; do sleep 1; done")
    begin = time.monotonic()
    making.delete(cluster.name)
    assert deaf.wait(TIME_LIMIT) == -signal.SIGKILL
    assert time.monotonic() - begin >= making.GRACE_SECONDS  # it was asked first
    assert not namespaces_of(cluster.name)


def test_delete_ends_a_stopped_process(cluster: Hosts) -> None:
    stopped = occupy(cluster, 0, "echo ready; exec sleep 1000")
    stopped.send_signal(signal.SIGSTOP)
    making.delete(cluster.name)
    assert stopped.wait(TIME_LIMIT) == -signal.SIGTERM


def test_a_cluster_is_not_deleted_from_within(cluster: Hosts) -> None:
    ended = cluster.run(0, *argv("cluster", "delete", cluster.name))
    assert ended.returncode == 2
    assert "from outside" in ended.stderr
    assert inspection.require(cluster.name).complete
