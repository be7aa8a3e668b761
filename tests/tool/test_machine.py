"""What is read of a machine, from folders like /proc and /sys, and what disturbs on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kumiki.doctor import State, disturbances
from kumiki.load import OtherLoad
from kumiki.machine import Machine

CPU = "sys/devices/system/cpu"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Four hardware threads on two cores of one package."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr("kumiki.load.SAMPLE_SECONDS", 0)
    for processor in range(4):
        put(tmp_path, f"{CPU}/cpu{processor}/topology/physical_package_id", "0")
        put(tmp_path, f"{CPU}/cpu{processor}/topology/core_id", str(processor % 2))
        pair = f"{processor % 2},{processor % 2 + 2}"
        for index, (level, kind, size, shared) in enumerate(
            [("1", "Data", "48K", pair), ("2", "Unified", "2048K", pair), ("3", "Unified", "32M", "0-3")]
        ):
            folder = f"{CPU}/cpu{processor}/cache/index{index}"
            for name, value in (("level", level), ("type", kind), ("size", size), ("shared_cpu_list", shared)):
                put(tmp_path, f"{folder}/{name}", value)
            put(tmp_path, f"{folder}/coherency_line_size", "64")
    return Machine(tmp_path)


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def states(machine: Machine) -> dict[str, State]:
    return {finding.subject: finding.state for finding in disturbances(machine)}


def test_siblings_count_once(machine: Machine) -> None:
    assert (machine.usable_cores(), machine.threads_per_core(), machine.packages()) == (2, 2, 1)
    assert states(machine)["hardware threads"] is State.DISTURBS


def test_affinity_limits_the_cores(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1, 3})
    assert machine.usable_cores() == 1


def test_caches_are_counted_by_who_shares_them(machine: Machine) -> None:
    assert machine.caches() == [
        {"level": 1, "type": "data", "bytes": 48 << 10, "line_bytes": 64, "count": 2},
        {"level": 2, "type": "unified", "bytes": 2 << 20, "line_bytes": 64, "count": 2},
        {"level": 3, "type": "unified", "bytes": 32 << 20, "line_bytes": 64, "count": 1},
    ]


@pytest.mark.parametrize(
    ("files", "quota", "cores"),
    [
        ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "max 100000"}, None, 2),
        ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "150000 100000"}, 1.5, 1),
        ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "50000 100000"}, 0.5, 1),
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/job",
                "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "100000",
                "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "50000",
            },
            2.0,
            2,
        ),
        ({"proc/self/cgroup": "4:cpu:/job", "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "-1"}, None, 2),
    ],
)
def test_quota_of_either_kind_of_cgroup(
    machine: Machine, files: dict[str, str], quota: float | None, cores: int
) -> None:
    for name, text in files.items():
        put(machine.root, name, text)
    assert machine.processor_quota() == quota
    assert machine.usable_cores() == cores
    assert ("processor quota" in states(machine)) is (quota is not None)


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
        ("proc/cpuinfo", "flags\t\t: fpu hypervisor sse", "virtual machine", State.FIXED),
        ("proc/cpuinfo", "flags\t\t: fpu sse", "virtual machine", None),
    ],
)
def test_what_disturbs(machine: Machine, name: str, text: str, subject: str, state: State | None) -> None:
    put(machine.root, name, text)
    assert states(machine).get(subject) is state


def put_stat(machine: Machine, busy: float) -> None:
    """Each usable processor has worked so many seconds; one that others own has worked for hours."""
    part = int(busy * os.sysconf("SC_CLK_TCK") / 4)
    lines = [f"cpu{processor} {part} {part} {part} 123456 99 88 77 {part} 55 44" for processor in range(4)]
    put(machine.root, "proc/stat", "\n".join(["cpu  1 2 3 4 5 6 7 8 9 10", *lines, "cpu4 900000 0 0 0 0 0 0 0 0 0"]))


def test_load_is_what_others_do_now(machine: Machine) -> None:
    put_stat(machine, 100)
    assert machine.busy_seconds() == 400
    now = 10.0
    others = OtherLoad(machine, lambda: now)
    put_stat(machine, 101)
    now = 20.0
    assert others.so_far() == pytest.approx(0.4, abs=0.02)


def test_our_own_work_is_no_load(machine: Machine) -> None:
    put_stat(machine, 100)
    now = 10.0
    others = OtherLoad(machine, lambda: now)
    subprocess.run([sys.executable, "-c", "while __import__('time').process_time() < 0.4: pass"], check=True)
    put_stat(machine, 100.1)
    now = 11.0
    assert others.so_far() == 0.0


def test_load_is_judged_by_cores(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for load, state in ((0.39, State.GOOD), (0.41, State.DISTURBS)):
        monkeypatch.setattr(OtherLoad, "so_far", lambda self, load=load: load)
        assert states(machine)["load"] is state


def test_load_average_of_what_has_ended_counts_no_more(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build leaves a high load average behind, and nothing that would disturb."""
    monkeypatch.setattr(os, "getloadavg", lambda: (8.0, 8.0, 8.0))
    put_stat(machine, 100)
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


def test_machine_that_tells_nothing(tmp_path: Path) -> None:
    unknown = Machine(tmp_path)
    assert unknown.usable_cores() >= 1
    assert (unknown.caches(), unknown.governor(), unknown.turbo(), unknown.memory_bytes()) == ([], None, None, None)
    assert unknown.numa_nodes() == 1
