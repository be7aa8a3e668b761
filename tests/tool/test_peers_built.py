"""Programs that are really compiled for an MPI below a prefix, and measured: the distribution's own MPI, passed as a
peer.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fake_native import results_of
from kumiki.machine import mpi
from kumiki.machine.native import Native

SECONDS = 600


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """A folder with links to the files of an MPI that the distribution keeps in several places."""
    if not (Native.installed().prefix / "share" / "kumiki" / "source").is_dir():
        pytest.skip("Kumiki is not installed beside these tests")
    for kind in mpi.ALL:
        launcher, wrapper = mpi.launcher(kind), shutil.which(f"mpicxx.{kind.name}")
        if launcher and wrapper:
            break
    else:
        pytest.skip("no MPI is installed with its development files")
    folder = tmp_path / "prefix" / "bin"
    folder.mkdir(parents=True)
    (folder / "mpirun").symlink_to(launcher)
    (folder / "mpicxx").symlink_to(wrapper)
    for library in Path("/usr/lib").glob("*/libmpi*.so.*"):
        (tmp_path / "prefix" / "lib").mkdir(exist_ok=True)
        (tmp_path / "prefix" / "lib" / library.name).symlink_to(library)
    return tmp_path / "prefix"


def kumiki(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kumiki", *arguments],
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_a_peer_is_compiled_once_and_measured(prefix: Path, tmp_path: Path) -> None:
    arguments = ("evaluate", "--suite", "rank-barrier", "--quick", "--ranks", "2", "--output", "out")
    ended = kumiki(tmp_path, *arguments, "--peer", f"mine={prefix}")
    assert ended.returncode == 0, ended.stderr
    assert "compiling 1 program for mine" in ended.stderr
    content = results_of(tmp_path / "out")
    measured = [row for row in content["rows"] if row["implementation"] == "mine" and row["median"] is not None]
    assert {row["metric"] for row in measured} == {"rank_barrier.time", "rank_barrier.hidden"}
    assert content["environment"]["peers"]["mine"]["version"] in content["environment"]["versions"].values()
    program = next((tmp_path / "cache").rglob("rank-barrier-mine"))
    compiled = program.stat().st_mtime_ns

    again = kumiki(tmp_path, *arguments, "--peer", f"mine={prefix}")
    assert again.returncode == 0 and "compiling" not in again.stderr
    assert program.stat().st_mtime_ns == compiled


def test_a_wrapper_that_fails_is_quoted(prefix: Path, tmp_path: Path) -> None:
    (prefix / "bin" / "mpicxx").unlink()
    (prefix / "bin" / "mpicxx").write_text("#!/bin/sh\necho its settings are not here >&2\nexit 1\n")
    (prefix / "bin" / "mpicxx").chmod(0o755)
    ended = kumiki(tmp_path, "evaluate", "--suite", "rank-barrier", "--quick", "--peer", f"mine={prefix}")
    assert ended.returncode == 3
    assert "programs for mine cannot be compiled" in ended.stderr and "its settings are not here" in ended.stderr
