"""The facts about a machine, from kumiki-topology and from a folder like /sys, and disturbances on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest
from kumiki.doctor import State, disturbances
from kumiki.machine.load import OtherLoad, busy_seconds
from kumiki.machine.native import Native
from kumiki.machine.topology import Machine

CPU = "sys/devices/system/cpu"
TOPOLOGY: dict[str, Any] = {
    "schema_version": 1,
    "virtual": False,
    "memory_bytes": 16 << 30,
    "usable": {"cores": 2, "processors": [0, 1, 2, 3], "quota": None},
    "packages": [
        {"index": 0, "model": "Fake 9000", "cores": [[0, 2], [1, 3]]},
        {"index": 1, "model": "Fake 9000", "cores": [[4]]},
    ],
    "memory_nodes": [{"index": node, "bytes": 8 << 30, "processors": [node]} for node in range(2)],
    "caches": [
        {"level": 3, "type": "unified", "bytes": 32 << 20, "line_bytes": 64, "shared_by": [[0, 1, 2, 3], [4]]},
        {"level": 2, "type": "unified", "bytes": 2 << 20, "line_bytes": 64, "shared_by": [[0, 2], [1, 3], [4]]},
        {"level": 1, "type": "data", "bytes": 48 << 10, "line_bytes": 64, "shared_by": [[0, 2], [1, 3]]},
        {"level": 1, "type": "data", "bytes": 32 << 10, "line_bytes": 64, "shared_by": [[4]]},
    ],
}
"""Two usable cores with two hardware threads each, and a package that belongs to other users."""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr("kumiki.machine.load.SAMPLE_SECONDS", 0)
    return Machine(TOPOLOGY, tmp_path)


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def states(machine: Machine) -> dict[str, State]:
    return {finding.subject: finding.state for finding in disturbances(machine)}


def test_siblings_count_once(machine: Machine) -> None:
    assert (machine.usable_cores(), machine.threads_per_core(), machine.packages()) == (2, 2, 1)
    assert states(machine)["hardware threads"] is State.DISTURBS


def test_caches_and_packages_of_others_do_not_count(machine: Machine) -> None:
    assert machine.caches() == [
        {"level": 1, "type": "data", "bytes": 48 << 10, "line_bytes": 64, "count": 2},
        {"level": 2, "type": "unified", "bytes": 2 << 20, "line_bytes": 64, "count": 2},
        {"level": 3, "type": "unified", "bytes": 32 << 20, "line_bytes": 64, "count": 1},
    ]
    assert (machine.model(), machine.numa_nodes(), machine.memory_bytes()) == ("Fake 9000", 2, 16 << 30)


@pytest.mark.parametrize(("quota", "cores"), [(None, 2), (1.5, 1), (0.5, 1), (2.0, 2), (8.0, 2)])
def test_a_quota_limits_the_cores(quota: float | None, cores: int) -> None:
    machine = Machine({**TOPOLOGY, "usable": {**TOPOLOGY["usable"], "quota": quota}})
    assert machine.usable_cores() == cores
    assert ("processor quota" in states(machine)) is (quota is not None and quota < 4)


def test_a_virtual_machine_is_told() -> None:
    assert states(Machine({**TOPOLOGY, "virtual": True}))["virtual machine"] is State.FIXED


@pytest.mark.parametrize(
    ("name", "text", "subject", "state"),
    [
        (f"{CPU}/cpu0/cpufreq/scaling_governor", "powersave", "frequency governor", State.DISTURBS),
        (f"{CPU}/cpu0/cpufreq/scaling_governor", "performance", "frequency governor", State.GOOD),
        (f"{CPU}/intel_pstate/no_turbo", "0", "turbo", State.DISTURBS),
        (f"{CPU}/intel_pstate/no_turbo", "1", "turbo", None),
        (f"{CPU}/cpufreq/boost", "1", "turbo", State.DISTURBS),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]", "huge pages", State.DISTURBS),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never", "huge pages", State.GOOD),
    ],
)
def test_what_disturbs(machine: Machine, name: str, text: str, subject: str, state: State | None) -> None:
    put(machine.root, name, text)
    assert states(machine).get(subject) is state


class Worked(NamedTuple):
    """The times of one processor, in the form of psutil."""

    user: float
    nice: float
    system: float
    idle: float = 1234.5
    iowait: float = 99.0
    irq: float = 88.0
    softirq: float = 77.0
    steal: float = 0.0


def set_busy(monkeypatch: pytest.MonkeyPatch, busy: float) -> None:
    """Each usable processor has worked for this many seconds; one that others own has worked for hours."""
    part = busy / 4
    times = [Worked(part, part, part, steal=part) for _ in range(4)]
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu: [*times, Worked(9000, 0, 0)])


def test_load_is_what_others_do_now(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    set_busy(monkeypatch, 100)
    assert busy_seconds(machine) == 400
    now = 10.0
    others = OtherLoad(machine, lambda: now)
    set_busy(monkeypatch, 101)
    now = 20.0
    assert others.so_far() == pytest.approx(0.4, abs=0.02)


def test_a_container_that_shows_its_own_processors_alone(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu: [Worked(10, 0, 0), Worked(20, 0, 0)])
    assert busy_seconds(machine) == 30


def test_our_own_work_is_no_load(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    set_busy(monkeypatch, 100)
    now = 10.0
    others = OtherLoad(machine, lambda: now)
    subprocess.run([sys.executable, "-c", "while __import__('time').process_time() < 0.4: pass"], check=True)
    set_busy(monkeypatch, 100.08)
    now = 11.0
    assert others.so_far() == 0.0


def test_load_is_judged_by_cores(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for load, state in ((0.39, State.GOOD), (0.41, State.DISTURBS)):
        monkeypatch.setattr(OtherLoad, "so_far", lambda self, load=load: load)
        assert states(machine)["load"] is state


def test_load_average_of_what_has_ended_counts_no_more(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build leaves a high load average behind, although nothing disturbs any more."""
    monkeypatch.setattr(os, "getloadavg", lambda: (8.0, 8.0, 8.0))
    set_busy(monkeypatch, 100)
    assert states(machine)["load"] is State.GOOD


def test_small_shared_memory(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    class Status:
        f_frsize = 4096
        f_blocks = (64 << 20) // 4096

    monkeypatch.setattr(os, "statvfs", lambda path: Status)
    assert machine.shared_memory_bytes() == 64 << 20
    assert states(machine)["/dev/shm"] is State.DISTURBS


def test_every_trouble_that_can_be_mended_names_its_command(machine: Machine) -> None:
    put(machine.root, f"{CPU}/cpu0/cpufreq/scaling_governor", "powersave")
    for finding in disturbances(machine):
        assert (finding.mend is not None) is (finding.state is State.DISTURBS)


def test_a_machine_without_the_native_part(tmp_path: Path) -> None:
    unknown = Machine(root=tmp_path)
    assert 1 <= unknown.usable_cores() <= len(unknown.usable_processors())
    assert unknown.usable_processors() == sorted(os.sched_getaffinity(0))
    assert (unknown.caches(), unknown.governor(), unknown.turbo()) == ([], None, None)
    assert (unknown.numa_nodes(), unknown.packages(), unknown.threads_per_core()) == (1, 1, 1)
    assert unknown.memory_bytes() > 0 and unknown.model()


def test_kumiki_topology_is_asked_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It must not describe the machine of hwloc's variables."""
    monkeypatch.setenv("HWLOC_SYNTHETIC", "pack:2 core:8 pu:2")
    put_program(tmp_path, f"[ -z \"$HWLOC_SYNTHETIC\" ] && echo '{json.dumps(TOPOLOGY)}'")
    assert Machine.here(Native(tmp_path)).topology == TOPOLOGY


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo hwloc cannot tell >&2; exit 3", "hwloc cannot tell"),
        ("exit 3", "exit code 3"),
        ("echo no JSON", "Expecting value"),
        ("echo '{\"schema_version\": 2}'", "another version"),
    ],
)
def test_a_kumiki_topology_that_does_not_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, said: str
) -> None:
    put_program(tmp_path, body)
    assert Machine.here(Native(tmp_path)).topology is None
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1


def put_program(prefix: Path, body: str) -> None:
    put(prefix, "bin/kumiki-topology", f"#!/bin/sh\n{body}")
    (prefix / "bin" / "kumiki-topology").chmod(0o755)
