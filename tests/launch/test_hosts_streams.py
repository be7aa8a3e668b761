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
