"""Programs with much output: the part of it that is kept, and that reading it does not slow them down."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kumiki.evaluation import process
from kumiki.evaluation.excerpt import Excerpt


def run_python(code: str, limit: float = 60) -> tuple[process.Ended, list[str], list[str]]:
    output: list[str] = []
    errors: list[str] = []
    ended = process.run([sys.executable, "-c", code], os.environ, limit, output.append, errors.append)
    return ended, output, errors


@given(st.lists(st.binary(max_size=40)))
def test_short_texts_are_kept_whole(pieces: list[bytes]) -> None:
    excerpt = Excerpt(1 << 20)
    for piece in pieces:
        excerpt.add(piece)
    expected = b"".join(pieces).decode(errors="replace")
    assert list(excerpt.lines()) == [line.rstrip("\r") for line in expected.removesuffix("\n").split("\n") if expected]


@given(st.integers(1, 5000), st.integers(20, 400))
def test_long_texts_keep_whole_words_of_both_ends(pieces: int, most: int) -> None:
    excerpt = Excerpt(most)
    words = [f"word-{number}-end" for number in range(pieces)]
    for word in words:
        excerpt.add(f"{word}\n".encode())
    lines = list(excerpt.lines())
    kept = [line for line in lines if not line.startswith("...")]
    assert set(kept) <= set(words)
    left_out = [int(line.split()[1]) for line in lines if line.startswith("...")]
    assert sum(left_out) + sum(len(line) + 1 for line in kept) == sum(len(word) + 1 for word in words)
    assert sum(len(line) + 1 for line in kept) <= 2 * most


def test_a_line_without_an_end_is_left_out_whole() -> None:
    excerpt = Excerpt(100)
    excerpt.add(b"first\n" + b"x" * 10_000 + b"\nlast 42\n")
    assert list(excerpt.lines()) == ["first", "... 10001 bytes are left out ...", "last 42"]


def test_much_output_takes_a_program_no_longer() -> None:
    """50 MB in one line, compared with a program that writes them to a pipe whose contents are dropped."""
    write = "import os\nwhole = b'x' * 50_000_000\nwhile whole: whole = whole[os.write(1, whole[:1 << 20]):]"
    ended, _, _ = run_python(write)
    start = time.monotonic()
    assert os.system(f'{sys.executable} -c "{write}" | cat >/dev/null') == 0
    assert ended.code == 0
    assert ended.seconds < 10 * (time.monotonic() - start) + 0.5


def test_what_is_made_of_lines_does_not_count() -> None:
    slow: list[str] = []

    def take(line: str) -> None:
        time.sleep(0.01)
        slow.append(line)

    code = "for line in range(100): print(line, 'x' * 100_000, flush=True)"
    ended = process.run([sys.executable, "-c", code], os.environ, 60, take, take)
    assert len(slow) == 100
    assert ended.seconds < 0.01 * 100


def test_lines_of_a_program_that_is_ended_are_handed_on(tmp_path: Path) -> None:
    ended, output, errors = run_python(
        "import sys, time\nprint('begun', flush=True); print('oh', file=sys.stderr, flush=True); time.sleep(60)", 1
    )
    assert (ended.code, output, errors, ended.last_errors) == (None, ["begun"], ["oh"], ("oh",))


def test_an_interrupt_while_a_program_starts_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(subprocess.Popen[bytes]):
        """The process already runs when the interrupt comes, and its caller never learns of it."""

        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)  # type: ignore[call-overload]
            started.append(self.pid)
            raise KeyboardInterrupt

    started: list[int] = []
    monkeypatch.setattr(process.subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        process.run(["sleep", "60"], os.environ, 60, lambda line: None, lambda line: None)
    assert len(started) == 1 and not psutil.pid_exists(started[0])
