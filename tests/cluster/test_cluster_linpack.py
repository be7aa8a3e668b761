"""`kumiki linpack --cluster` from end to end: two hosts, the choice, the run, and the residual."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

import pytest
from clustering import Hosts, argv
from kumiki.machine.native import Native

TIME_LIMIT = 120


def test_a_process_mix_on_each_of_two_hosts(make_cluster: Callable[..., Hosts]) -> None:
    native = Native.installed()
    if not native.has(native.command("kumiki-linpack")):
        pytest.skip("the native part is not installed, or without Linpack (there was no BLAS library)")
    cluster = make_cluster(2)
    words = ("linpack", "--cluster", cluster.name, "-N", "700", "--block", "32", "--device", "emulated:rate=5")
    ended = subprocess.run(
        argv(*words, "--mix", "1x1+1"), capture_output=True, text=True, timeout=TIME_LIMIT, check=False
    )
    assert ended.returncode == 0, ended.stderr
    ranks = re.findall(r"^# rank (\d): (\S+) threads=1 cores=\d+$", ended.stdout, re.M)
    assert [rank for rank, _ in ranks] == ["0", "1", "2", "3"] and ranks[0][1] == ranks[1][1] != ranks[2][1]
    assert re.search(r"^WR10R2R8 +700 +32 +2 +2 ", ended.stdout, re.M)
    assert "1 tests completed and passed residual checks" in ended.stdout


def test_a_small_system_over_two_hosts(make_cluster: Callable[..., Hosts]) -> None:
    native = Native.installed()
    if not native.has(native.command("kumiki-linpack")):
        pytest.skip("the native part is not installed, or without Linpack (there was no BLAS library)")
    cluster = make_cluster(2)
    words = ("linpack", "--cluster", cluster.name, "-N", "400", "--block", "32", "-t", "1")
    ended = subprocess.run(argv(*words), capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "# ranks: 2, one for each memory node" in ended.stdout
    assert re.search(r"^WR10R2R8 +400 +32 +1 +2 ", ended.stdout, re.M)
    assert "1 tests completed and passed residual checks" in ended.stdout
    assert "# Rmax: " in ended.stdout
