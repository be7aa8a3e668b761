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
