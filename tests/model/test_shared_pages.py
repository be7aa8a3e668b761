"""The protocol of shared arrays, checked by spin in every interleaving of a small job; spin must find mistakes, too."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).with_name("shared_pages.pml")
PATIENCE_SECONDS = 300
"""A check takes one to three seconds of a processor; this is for machines that have much else to do."""

pytestmark = pytest.mark.skipif(shutil.which("spin") is None, reason="spin is not installed (apt install spin)")


def check(folder: Path, optimise: str, **switches: int) -> str:
    """What spin's checker says about the model. Where it soon finds a mistake, compiling it takes most of the time."""
    words = [f"-D{name}={value}" for name, value in switches.items()]
    compiler = os.environ.get("CC", "cc")
    checker = [str(folder / "pan"), "-m10000", "-w22"]
    for command in (
        ["spin", "-a", *words, str(MODEL)],
        # gcc warns about indices that the model never has.
        [compiler, "-w", optimise, "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=2000", "-o", checker[0], "pan.c"],
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    ran = subprocess.run(checker, cwd=folder, check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    return ran.stdout


@pytest.mark.parametrize(("intervals", "accesses"), [(3, 2), (1, 3)])
def test_no_byte_is_lost_or_old_and_nobody_waits_for_ever(tmp_path: Path, intervals: int, accesses: int) -> None:
    said = check(tmp_path, "-O2", INTERVALS=intervals, ACCESSES=accesses)
    assert "errors: 0" in said, said
    assert "max search depth too small" not in said and "Search not completed" not in said, said


@pytest.mark.parametrize(
    ("mistake", "found"),
    [
        ("NO_FENCE_AT_HOME", "assertion violated"),
        ("MARK_AFTER_COPY", "assertion violated"),
        ("NEWS_BEFORE_MARK", "assertion violated"),
        ("NO_ACKNOWLEDGEMENT", "assertion violated"),
        ("NO_NOTICE_OF_HOME", "assertion violated"),
        ("WORD_DIFFERENCES", "assertion violated"),
        ("NO_ANSWER", "invalid end state"),
    ],
)
def test_the_model_finds(tmp_path: Path, mistake: str, found: str) -> None:
    said = check(tmp_path, "-O0", **{mistake: 1})
    assert "errors: 1" in said and found in said, said
