"""Runs spin on a model of this folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PATIENCE_SECONDS = 300
"""A check takes one to fifteen seconds of a processor; this is for machines that have much else to do."""

needs_spin = pytest.mark.skipif(shutil.which("spin") is None, reason="spin is not installed (apt install spin)")


def check(model: str, folder: Path, *options: str, **switches: int) -> str:
    """What spin's checker says about the model. `options` are for the compiler of the checker: where it soon finds a
    mistake, compiling it takes most of the time. With -DT_REVERSE it tries the last of several steps first.
    """
    words = [f"-D{name}={value}" for name, value in switches.items()]
    compiler = os.environ.get("CC", "cc")
    checker = [str(folder / "pan"), "-m10000", "-w22"]
    for command in (
        ["spin", "-a", *words, str(Path(__file__).with_name(model))],
        # gcc warns about indices that the model never has.
        [compiler, "-w", *options, "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=2000", "-o", checker[0], "pan.c"],
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    ran = subprocess.run(checker, cwd=folder, check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    return ran.stdout


def expect_no_mistake(model: str, folder: Path, **switches: int) -> None:
    """Visits every state."""
    said = check(model, folder, "-O2", **switches)
    assert "errors: 0" in said, said
    assert "max search depth too small" not in said and "Search not completed" not in said, said


def expect_mistake(model: str, folder: Path, found: str, *options: str, **switches: int) -> None:
    said = check(model, folder, *options, **switches)
    assert "errors: 1" in said and found in said, said
