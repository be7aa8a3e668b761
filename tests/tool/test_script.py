"""The sh script `kumiki` of a clone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "kumiki"
SOURCES = ("cmake", "include", "src", "measure", "bench", "kernels", "accelerator", "linpack", "tool")


def built_clone(folder: Path) -> Path:
    """A clone in which nothing is to be built; its tool prints where it lies."""
    folder.mkdir()
    script, tool = folder / "kumiki", folder / ".venv" / "bin" / "kumiki"
    script.write_text(SCRIPT.read_text())
    script.chmod(0o755)
    for name in SOURCES:
        (folder / name).mkdir()
    for name in ("CMakeLists.txt", "pyproject.toml"):
        (folder / name).touch()
    tool.parent.mkdir(parents=True)
    tool.write_text('#!/bin/sh\necho "$0" "$@"\n')
    tool.chmod(0o755)
    found = [
        subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, text=True).stdout.strip()
        for name in ("mpicxx.openmpi", "mpicxx.mpich", "gfortran")
    ]
    (folder / ".venv" / ".built").write_text(" ".join([str(folder), *found]))
    return script


def test_through_a_symbolic_link_it_is_that_of_its_clone(tmp_path: Path) -> None:
    script = built_clone(tmp_path / "a clone")
    other = tmp_path / "other"
    other.mkdir()
    (other / "relative").symlink_to("../a clone/kumiki")
    (other / "twice").symlink_to(other / "relative")
    # A script that looks in the wrong folder must not install anything.
    harmless = tmp_path / "harmless"
    harmless.mkdir()
    for name, text in (("id", "echo 1000"), ("python3", "exit 1")):
        (harmless / name).write_text(f"#!/bin/sh\n{text}\n")
        (harmless / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{harmless}:{os.environ['PATH']}"}
    for command in (script, other / "relative", other / "twice"):
        ended = subprocess.run([command, "list"], capture_output=True, text=True, cwd=other, env=environment)
        assert ended.stdout == f"{tmp_path}/a clone/.venv/bin/kumiki list\n", ended.stderr
    assert sorted(entry.name for entry in other.iterdir()) == ["relative", "twice"]
