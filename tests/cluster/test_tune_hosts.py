"""`kumiki tune` with the real programs, on this host and between two."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from clustering import Hosts, argv
from kumiki.machine.native import Native

TIME_LIMIT = 120


def machine() -> str:
    """The machine's name in the file."""
    words = (Native.installed().command("kumiki-topology"), "--key")
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def check_tuning(home: Path, link: str, *arguments: str) -> None:
    """Tunes with a configuration of its own that contains a bad length.

    It is replaced by a better one, or removed if the library's own rule is equally good.
    """
    if not Native.installed().has(Native.installed().program("fragment")):
        pytest.skip("the native part is not installed")
    file = home / "kumiki" / "tuned"
    file.parent.mkdir()
    file.write_text(f"{machine()} {link} 223\n")
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
    assert "Best: " in ended.stdout
    assert f"({machine()}; {link})" in ended.stdout
    kept = [line.split() for line in file.read_text().splitlines() if not line.startswith("#")]
    if "Written: " in ended.stdout:
        ((*key, length),) = kept
        assert key == [machine(), link] and int(length) > 223, "the shortest is never the best"
    else:
        assert "Removed the older length" in ended.stdout and str(file) in ended.stdout and kept == []


def test_what_is_found_is_kept_for_this_machine(tmp_path: Path) -> None:
    check_tuning(tmp_path, "memory")


def test_between_hosts(make_cluster: Callable[..., Hosts], tmp_path: Path) -> None:
    check_tuning(tmp_path, "network:eth0", "--cluster", make_cluster(2).name)
