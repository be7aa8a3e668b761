"""Output and input of ranks on several hosts, as far as they differ from those of one."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from launching import Launcher, eventually


def test_much_input_arrives_whole_and_unread_input_does_no_harm(
    launcher: Launcher, remote_shell: str, tmp_path: Path
) -> None:
    text = "0123456789abcde\n" * 400_000
    hosts = ("--hosts", "a,b", "--remote-shell", remote_shell)
    slow = "[ $KUMIKI_RANK = 0 ] || exit 0; sleep 0.2; sha256sum"
    through_pipe = launcher.run(*hosts, "sh", "-c", slow, text=text).stdout
    assert through_pipe == subprocess.run(["sha256sum"], input=text, capture_output=True, text=True, check=True).stdout
    assert launcher.run(*hosts, "true", text=text).returncode == 0
    file = tmp_path / "input"
    file.write_text(text)
    with file.open() as opened:
        from_file = subprocess.run(
            [launcher.path, *hosts, "sh", "-c", slow],
            env=launcher.environment(),
            stdin=opened,
            capture_output=True,
            text=True,
            check=True,
        )
    assert from_file.stdout == through_pipe


def test_a_reader_that_does_not_read_keeps_the_launcher_awake(launcher: Launcher, remote_shell: str) -> None:
    """One rank floods a stream that is not read; the failure of another rank is nevertheless noticed, and a signal
    works.
    """
    flood = "[ $KUMIKI_RANK = 1 ] && sleep 0.5 && exit 5; exec yes"
    job = launcher.start("--hosts", "a,b", "--remote-shell", remote_shell, "sh", "-c", flood)
    launcher.wait_for("yes", 1)
    assert eventually(lambda: launcher.count("yes") == 0, 3.0)
    job.terminate()
    time.sleep(0.3)
    job.terminate()
    assert job.wait(3) == 5
    assert launcher.nothing_left(0.5)


def test_lines_of_ranks_stay_whole_however_they_arrive(launcher: Launcher, remote_shell: str) -> None:
    """Each line is written in three pieces, while other ranks write theirs."""
    pieces = 'i=0; while [ $i -lt 300 ]; do printf "$KUMIKI_RANK-"; printf $i; echo " end"; i=$((i + 1)); done'
    ended = launcher.run("--hosts", "a:2,b:2", "--remote-shell", remote_shell, "sh", "-c", pieces)
    assert sorted(ended.stdout.splitlines()) == sorted(f"{rank}-{i} end" for rank in range(4) for i in range(300))


def test_a_question_appears_before_it_is_answered(launcher: Launcher, remote_shell: str) -> None:
    asks = '[ $KUMIKI_RANK = 1 ] && exit; printf "name? "; read name; echo "$name!"'
    job = subprocess.Popen(
        [launcher.path, "--hosts", "a,b", "--remote-shell", remote_shell, "sh", "-c", asks],
        env=launcher.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=0,
    )
    assert job.stdin is not None and job.stdout is not None
    assert job.stdout.read(6) == "name? "
    job.stdin.write("Kumiki\n")
    job.stdin.close()
    assert job.stdout.read() == "Kumiki!\n"
    assert job.wait(5) == 0
