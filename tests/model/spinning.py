"""Runs spin on a model of this folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

PATIENCE_SECONDS = 300
"""A check takes one to fifteen seconds of a processor; this is for machines that have much else to do."""

needs_spin = pytest.mark.skipif(shutil.which("spin") is None, reason="spin is not installed (apt install spin)")


def known_outcomes() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kumiki" / "spin"


def check(model: str, folder: Path, *options: str, **switches: int) -> str:
    """What spin's checker says about the model. `options` are for the compiler of the checker: where it soon finds a
    mistake, compiling it takes most of the time. With -DT_REVERSE it tries the last of several steps first.

    A checker that was made of the same text with the same options says the same, so what it said is kept, as ccache
    keeps what a compiler made.
    """
    words = [f"-D{name}={value}" for name, value in switches.items()]
    compile_words = ["-w", *options, "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=2000"]  # gcc warns about unused indices
    limits = ["-m10000", "-w22"]

    def run(*command: str) -> str:
        return subprocess.run(
            command, cwd=folder, check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS
        ).stdout

    for part in Path(__file__).parent.glob("*.pml"):  # names are part of the text, so without their folder
        shutil.copy(part, folder)
    run("spin", "-a", *words, model)
    text = hashlib.sha256(repr((compile_words, limits)).encode())
    for part in sorted(folder.glob("pan.*")):
        text.update(part.read_bytes())
    known = known_outcomes() / text.hexdigest()
    if known.exists():
        return known.read_text()
    run(os.environ.get("CC", "cc"), *compile_words, "-o", "pan", "pan.c")
    said = run(str(folder / "pan"), *limits)
    known.parent.mkdir(parents=True, exist_ok=True)
    whole = known.with_suffix(f".{os.getpid()}")
    whole.write_text(said)
    whole.replace(known)
    return said


def expect_no_mistake(model: str, folder: Path, **switches: int) -> None:
    """Visits every state."""
    said = check(model, folder, "-O1", **switches)
    assert "errors: 0" in said, said
    assert "max search depth too small" not in said and "Search not completed" not in said, said


def expect_mistake(model: str, folder: Path, found: str, *options: str, **switches: int) -> None:
    said = check(model, folder, *options, **switches)
    assert "errors: 1" in said and found in said, said
