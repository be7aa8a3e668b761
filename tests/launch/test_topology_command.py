"""kumiki-topology, on this machine and on described ones."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from described import BARE, DISPLAY, machine
from launching import Launcher, find_command

TWO_PACKAGES = {"HWLOC_SYNTHETIC": "pack:2 [numa(memory=8GiB)] l3:1(size=32MiB) core:8 l2:1(size=1MiB) pu:2"}


def topology(
    launcher: Launcher, *arguments: str, environment: dict[str, str] | None = None, prefix: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    command = [*prefix, find_command("kumiki-topology"), *arguments]
    return subprocess.run(command, env=launcher.environment(environment), capture_output=True, text=True, check=False)


def as_json(
    launcher: Launcher, environment: dict[str, str] | None = None, prefix: tuple[str, ...] = ()
) -> dict[str, Any]:
    found = json.loads(topology(launcher, "--json", environment=environment, prefix=prefix).stdout)
    assert isinstance(found, dict)
    return found


def test_a_described_machine(launcher: Launcher) -> None:
    machine = as_json(launcher, TWO_PACKAGES)
    assert machine["this_machine"] is False
    assert machine["host"] == ""
    assert (machine["cores"], machine["processors"]) == (16, 32)
    assert machine["simultaneous_multithreading"] is True
    assert machine["usable"] == {"cores": 16, "processors": list(range(32)), "quota": None}
    assert [package["cores"][0] for package in machine["packages"]] == [[0, 1], [16, 17]]
    assert [(node["bytes"], len(node["processors"])) for node in machine["memory_nodes"]] == [(8 << 30, 16)] * 2
    assert [(c["level"], c["bytes"], len(c["shared_by"])) for c in machine["caches"]] == [
        (3, 32 << 20, 2),
        (2, 1 << 20, 16),
    ]


def test_the_text_tells_the_same(launcher: Launcher) -> None:
    text = topology(launcher, environment=TWO_PACKAGES).stdout
    for part in (
        "2 packages, 16 cores, 32 processors, 16 GiB of memory in 2 nodes",
        "cores 8-15: 2 processors each, processors 16-31",
        "L3   2 x 32 MiB, 64-byte lines, each shared by 16 processors",
        "accelerators: none",
    ):
        assert part in text


def test_the_free_memory(launcher: Launcher) -> None:
    told = topology(launcher, "--free")
    assert told.returncode == 0 and 0 <= int(told.stdout) <= as_json(launcher)["memory_bytes"]


def test_each_device_is_one_entry_whatever_its_drivers_call_it(launcher: Launcher, tmp_path: Path) -> None:
    first, second, third, bare, display = as_json(launcher, machine(tmp_path))["accelerators"]
    assert first == {
        "number": 0,
        "name": "opencl0d0",
        "names": ["opencl0d0", "nvml0", "cuda0"],
        "kind": "coprocessor",
        "vendor": "nvidia",
        "model": "NVIDIA H100",
        "uuid": "GPU-00000000-1111-2222-3333-444444444444",
        "memory_bytes": 80 << 30,
        "bus": "0000:17:00.0",
        "memory_node": 0,
    }
    assert (second["number"], second["bus"], second["memory_node"]) == (1, "0000:a3:00.0", 1)
    assert (third["number"], third["vendor"], third["model"]) == (2, "amd", "Aldebaran")
    assert (display["number"], display["kind"], display["bus"]) == (-1, "display", DISPLAY.address)
    assert (bare["number"], bare["name"]) == (-1, BARE.address), "its maker's driver shows others only"


def test_a_device_counts_when_hwloc_knows_no_driver_of_its_maker(launcher: Launcher, tmp_path: Path) -> None:
    (only,) = as_json(launcher, machine(tmp_path, (BARE,)))["accelerators"]
    assert (only["number"], only["vendor"], only["model"], only["names"]) == (0, "nvidia", "GA100", [])


def test_the_text_numbers_the_devices(launcher: Launcher, tmp_path: Path) -> None:
    text = topology(launcher, environment=machine(tmp_path)).stdout
    called = "called opencl0d1, nvml1, cuda1, at 0000:a3:00.0, near memory node 1"
    assert f"  device 1, NVIDIA H100, 80 GiB, {called}\n" in text
    assert "  no device of a job: display, Matrox G200, called card0, at 0000:02:00.0, near memory node 0\n" in text


def test_this_machine(launcher: Launcher) -> None:
    machine = as_json(launcher)
    assert machine["this_machine"] is True
    assert machine["host"] == os.uname().nodename
    assert machine["usable"]["processors"] == sorted(os.sched_getaffinity(0))
    assert machine["processors"] == sum(len(core) for package in machine["packages"] for core in package["cores"])
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert machine["memory_bytes"] == pytest.approx(total, rel=1e-3)


def test_the_affinity_mask_limits_what_is_usable(launcher: Launcher) -> None:
    last = max(os.sched_getaffinity(0))
    machine = as_json(launcher, prefix=("taskset", "-c", str(last)))
    assert machine["usable"]["processors"] == [last]
    assert machine["usable"]["cores"] == 1
    assert machine["cores"] == as_json(launcher)["cores"]


def test_wrong_usage(launcher: Launcher) -> None:
    assert topology(launcher, "--yaml").returncode == 2
    assert topology(launcher, "--help").returncode == 0
