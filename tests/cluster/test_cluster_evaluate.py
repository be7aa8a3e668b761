"""`kumiki evaluate --cluster` from end to end: real programs over two real hosts, and a report."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from clustering import Hosts, argv
from kumiki.machine.native import Native

TIME_LIMIT = 120


def test_a_small_evaluation(make_cluster: Callable[..., Hosts], tmp_path: Path) -> None:
    if not Native.installed().program("network").exists():
        pytest.skip("the native part is not installed")
    cluster = make_cluster(2, "2gbit")
    wanted = (
        "--cluster",
        cluster.name,
        "--suite",
        "rank-barrier,network",
        "--quick",
        "--output",
        str(tmp_path / "out"),
    )
    ended = subprocess.run(argv("evaluate", *wanted), capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    content = json.loads((tmp_path / "out" / "results.json").read_text())
    ours = {"kumiki", "tcp", "ucx"}
    failed = [row["failed"] for row in content["rows"] if "failed" in row and row["implementation"] in ours]
    assert not failed, ended.stderr
    assert content["environment"]["cluster"]["rate"] == "2gbit"
    rows = [row for row in content["rows"] if row["median"] is not None]
    assert all(row["parameters"]["hosts"] == 2 and row["validated"] is not False for row in rows)
    operations = {row["parameters"]["operation"] for row in rows if row["metric"] == "network.latency"}
    assert {"put", "get", "atomic", "active_message", "send"} <= operations
    assert {row["parameters"]["fabric"] for row in rows if row["metric"] == "rank_barrier.time"} == {"network"}
    # Nothing passes the link faster than its rate, except for a burst of a millisecond.
    fastest = max(
        row["median"] for row in rows if row["metric"] == "network.bandwidth" and row["parameters"]["bytes"] > 2**20
    )
    assert 0.05 < fastest < 1.1 * 0.25
    assert "Network" in (tmp_path / "out" / "index.html").read_text()
    assert not cluster.processes()


def test_openmp_programs_over_two_hosts(make_cluster: Callable[..., Hosts], tmp_path: Path) -> None:
    """Constructs, and programs by every placement, beside one process and each MPI."""
    if not Native.installed().program("openmp-queens").exists():
        pytest.skip("the native part is not installed")
    cluster = make_cluster(2)
    wanted = ("--cluster", cluster.name, "--suite", "openmp", "--quick", "--output", str(tmp_path / "out"))
    ended = subprocess.run(
        argv("evaluate", *wanted), capture_output=True, text=True, timeout=2 * TIME_LIMIT, check=False
    )
    rows = json.loads((tmp_path / "out" / "results.json").read_text())["rows"]
    ours = [row for row in rows if row["implementation"] in ("kumiki", "libgomp")]
    assert not [row["failed"] for row in ours if "failed" in row], ended.stderr
    assert all(row["validated"] for row in ours if row["median"] is not None)
    joins = {row["parameters"]["construct"] for row in rows if row["metric"] == "openmp.fork_join"}
    assert joins == {"parallel", "barrier"}
    times = [row["parameters"] for row in ours if row["metric"] == "openmp.time" and row["median"]]
    assert {own["program"] for own in times} >= {"laplace", "mandelbrot", "queens", "rows"}
    assert {own["homes"] for own in times if own["program"] == "rows" and "homes" in own} == {
        "first",
        "owner",
        "next",
        "by hand",
    }
    verified = [row["median"] for row in ours if row["metric"] == "openmp.verified"]
    assert verified and set(verified) == {1}
    assert "Which programs gain from more processes" in (tmp_path / "out" / "index.html").read_text()
    assert not cluster.processes()


def test_programs_over_hosts_as_in_the_maestro_paper(make_cluster: Callable[..., Hosts], tmp_path: Path) -> None:
    """The integer sort and the conjugate gradient with messages and with each MPI, over one host and over two."""
    if not Native.installed().program("is").exists():
        pytest.skip("the native part is not installed")
    cluster = make_cluster(2)
    wanted = ("--cluster", cluster.name, "--suite", "is,cg", "--quick", "--output", str(tmp_path / "out"))
    ended = subprocess.run(
        argv("evaluate", *wanted), capture_output=True, text=True, timeout=2 * TIME_LIMIT, check=False
    )
    rows = json.loads((tmp_path / "out" / "results.json").read_text())["rows"]
    # The ranks of an MPI spin: on a busy machine they may be ended at their time limit.
    assert not [row["failed"] for row in rows if "failed" in row and row["implementation"] == "kumiki"], ended.stderr
    assert all(row["validated"] for row in rows if row["median"] is not None)
    for metric in ("is.time", "cg.time"):
        times = [row for row in rows if row["metric"] == metric and row["median"]]
        ours = {row["parameters"].get("hosts", 1) for row in times if row["parameters"]["form"] == "message"}
        alone = [row for row in times if row["parameters"]["form"] == "sequential"]
        assert ours == {2} and len(alone) == 1
    page = (tmp_path / "out" / "index.html").read_text()
    for words in ("Integer sort: time over hosts", "Conjugate gradient: time over hosts", "one PC is faster than two"):
        assert words in page
    assert not cluster.processes()
