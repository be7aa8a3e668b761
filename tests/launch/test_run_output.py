"""Where the output of ranks goes, with and without labels."""

from __future__ import annotations

import collections
import os
import shlex
import time
from pathlib import Path

import pytest
from launching import ENVIRONMENT, PATIENCE, Launcher, eventually


def test_without_labels_ranks_write_to_the_launchers_own_streams(launcher: Launcher) -> None:
    result = launcher.run("-n", "2", "sh", "-c", "stat -Lc %i /proc/self/fd/1 /proc/self/fd/2")
    output, errors = result.stdout.split()[:2]
    assert result.stdout.split() == [output, errors] * 2
    assert output != errors


def test_labels_on_both_streams(launcher: Launcher, place: tuple[str, ...]) -> None:
    result = launcher.run(*place, "-n", "2", "--label", "sh", "-c", "echo out; echo err >&2")
    assert sorted(result.stdout.splitlines()) == ["[0] out", "[1] out"]
    assert sorted(result.stderr.splitlines()) == ["[0] err", "[1] err"]


def test_pieces_of_a_line_are_put_together(launcher: Launcher, place: tuple[str, ...]) -> None:
    script = "for part in a b c d e; do printf $part$KUMIKI_RANK; sleep 0.02; done; echo"
    result = launcher.run(*place, "-n", "4", "--label", "sh", "-c", script)
    expected = [f"[{r}] a{r}b{r}c{r}d{r}e{r}" for r in range(4)]
    assert sorted(result.stdout.splitlines()) == expected


def test_a_last_line_without_end_is_not_lost(launcher: Launcher, place: tuple[str, ...]) -> None:
    result = launcher.run(*place, "-n", "2", "--label", "printf", "one\\n\\ntwo")
    assert sorted(result.stdout.split("\n")) == ["", "[0] ", "[0] one", "[0] two", "[1] ", "[1] one", "[1] two"]


def test_the_last_words_of_a_killed_rank_are_not_lost(launcher: Launcher, place: tuple[str, ...]) -> None:
    result = launcher.run(
        *place,
        "-n",
        "2",
        "--label",
        "sh",
        "-c",
        "printf last$KUMIKI_RANK; [ $KUMIKI_RANK = 1 ] && kill -9 $$; sleep 60",
    )
    assert result.returncode == 128 + 9
    assert "[1] last1\n" in result.stdout


def test_huge_output_is_whole(launcher: Launcher, place: tuple[str, ...]) -> None:
    count = 60_000
    program = f"for i in range({count}): print(__import__('os').environ['KUMIKI_RANK'], i, 'x' * (i % 200))"
    result = launcher.run(*place, "-n", "3", "--label", "python3", "-c", program)
    assert result.returncode == 0
    following: collections.Counter[str] = collections.Counter()
    for line in result.stdout.splitlines():
        label, rank, number, *text = line.split(" ")
        assert label == f"[{rank}]"
        assert int(number) == following[rank]
        assert text == ["x" * (int(number) % 200)]
        following[rank] += 1
    assert following == {"0": count, "1": count, "2": count}


def test_a_line_longer_than_any_buffer_is_whole(launcher: Launcher, place: tuple[str, ...]) -> None:
    result = launcher.run(
        *place, "-n", "2", "--label", "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' $KUMIKI_RANK; echo"
    )
    assert sorted(result.stdout.splitlines()) == [f"[{rank}] " + str(rank) * 3_000_000 for rank in range(2)]


def test_output_comes_while_the_job_runs(launcher: Launcher, place: tuple[str, ...]) -> None:
    job = launcher.start(*place, "-n", "2", "--label", "sh", "-c", "echo early; sleep 60")
    assert job.stdout is not None
    begin = time.monotonic()
    assert {job.stdout.readline(), job.stdout.readline()} == {"[0] early\n", "[1] early\n"}
    assert time.monotonic() - begin < PATIENCE / 2
    assert job.poll() is None


def test_ranks_notice_that_nobody_reads(launcher: Launcher, place: tuple[str, ...]) -> None:
    for options in ([], ["--label"]):
        command = shlex.join([launcher.path, *place, "-n", "2", *options, "yes"])
        result = launcher.shell(f"{command} 2> /dev/null | head -n 3; exit ${{PIPESTATUS[0]}}")
        assert len(result.stdout.splitlines()) == 3
        assert result.returncode == 128 + 13
    assert launcher.nothing_left()


def test_an_escaped_writer_does_not_hold_the_labels(launcher: Launcher) -> None:
    """A process outside the job has the job's pipes open, like a server to which they were passed: here it is this
    test.
    """
    job = launcher.start("-n", "1", "--label", "sh", "-c", "echo done; exec sleep 0.5")
    assert eventually(lambda: "sleep" in launcher.processes().values())
    rank = next(process for process, name in launcher.processes().items() if name == "sleep")
    escaped = os.open(f"/proc/{rank}/fd/1", os.O_WRONLY)
    try:
        assert job.communicate(timeout=PATIENCE)[0] == "[0] done\n"
        assert job.returncode == 0
    finally:
        os.close(escaped)


def test_sixty_four_labelled_ranks(launcher: Launcher) -> None:
    result = launcher.run("-n", "64", "--label", "sh", "-c", "echo $KUMIKI_RANK; echo $KUMIKI_RANK >&2")
    expected = sorted(f"[{rank}] {rank}" for rank in range(64))
    assert sorted(result.stdout.splitlines()) == expected
    assert sorted(result.stderr.splitlines()) == expected


@pytest.mark.parametrize(
    ("before", "output", "reason"),
    [
        (":", "/dev/full", "No space left on device"),
        # The stack of a further thread would be larger than the address space.
        ("ulimit -S -s 200000000000", "file", "the limits of the user, such as ulimit -u, allow no thread for it"),
    ],
)
def test_output_that_cannot_be_written_ends_the_job(
    launcher: Launcher, place: tuple[str, ...], tmp_path: Path, before: str, output: str, reason: str
) -> None:
    job = shlex.join([launcher.path, *place, "-n", "2", "--label", "sh", "-c", "echo word; exec sleep 10"])
    result = launcher.shell(f"cd {tmp_path} && {before} && exec {job} > {output}")
    assert result.returncode == ENVIRONMENT, result.stderr
    said = f"kumiki-run: standard output cannot be written ({reason}), so what the ranks have printed is not complete\n"
    assert result.stderr == said
    assert launcher.nothing_left()
