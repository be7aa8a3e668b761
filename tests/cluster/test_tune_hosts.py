"""`kumiki tune` with the real programs, on this host and between two."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from clustering import Hosts, argv
from kumiki.native import Native

TIME_LIMIT = 120


def tune(home: Path, *arguments: str) -> str:
    """Runs it with a configuration of its own; the one line that it leaves."""
    if not Native.installed().has(Native.installed().program("fragment")):
        pytest.skip("the native part is not installed")
    environment = {**os.environ, "XDG_CONFIG_HOME": str(home)}
    ended = subprocess.run(
        argv("tune", "--quick", *arguments),
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
        env=environment,
    )
    assert ended.returncode == 0, ended.stderr
    assert "1048528" in ended.stdout and "Best: " in ended.stdout
    (line,) = (home / "kumiki" / "tuned").read_text().splitlines()[1:]
    return line


def test_what_is_found_is_kept_for_this_machine(tmp_path: Path) -> None:
    machine, link, length = tune(tmp_path).split()
    key = subprocess.run(
        (Native.installed().command("kumiki-topology"), "--key"), capture_output=True, text=True, check=True
    ).stdout.strip()
    assert (machine, link) == (key, "memory")
    assert int(length) > 223, "the shortest is never the best"


def test_between_hosts(make_cluster: Callable[..., Hosts], tmp_path: Path) -> None:
    _, link, length = tune(tmp_path, "--cluster", make_cluster(2).name).split()
    assert link == "network:eth0" and int(length) > 223
