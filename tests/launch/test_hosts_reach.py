"""Hosts with invalid names, or hosts that cannot be reached."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from launching import ENDED, ENVIRONMENT, USAGE, Launcher, lines, remote_shell_script


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--hosts", "a:2,b:1", "-n", "4"], "4 ranks are more than the 3 slots of the hosts; "),
        (["--hosts", "a,b,a"], "--hosts a,b,a: host a is named twice"),
        (["--hosts", "a", "--hostfile", "f"], "--hosts and --hostfile exclude each other"),
        (["--hostfile", "/no/such/file"], "cannot read the hostfile /no/such/file: No such file or directory"),
        (["--remote-shell", "rsh"], "--remote-shell is of use only together with --hosts, --hostfile or --rankfile"),
        (["--hosts", "a", "-x", "NOT_THERE"], "-x NOT_THERE is not usable: there is no variable NOT_THERE"),
    ],
)
def test_mistakes_are_told_before_the_run(launcher: Launcher, arguments: list[str], complaint: str) -> None:
    result = launcher.run(*arguments, "true")
    assert result.returncode == USAGE
    assert result.stderr.startswith(f"kumiki-run: {complaint}")
    assert result.stderr.count("\n") == 1


def test_mistakes_in_a_file_of_hosts_name_the_line(launcher: Launcher, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("a\n\nb slots=two\n")
    result = launcher.run("--hostfile", str(hosts), "true")
    assert result.returncode == USAGE
    assert result.stderr.startswith(f"kumiki-run: {hosts}, line 3: slots=two is not usable: ")


def refused(launcher: Launcher, *arguments: str, folder: Path | None = None) -> str:
    """The one sentence with which the launcher refuses to run a job, soon."""
    begin = time.monotonic()
    result = launcher.run(*arguments, folder=folder)
    assert result.returncode == ENVIRONMENT
    assert result.stderr.startswith("kumiki-run: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert time.monotonic() - begin < ENDED
    assert launcher.nothing_left(0.5)
    return result.stderr.removeprefix("kumiki-run: ")


def test_a_remote_shell_that_is_nowhere(launcher: Launcher) -> None:
    said = refused(launcher, "--hosts", "a,b", "--remote-shell", "no-such-shell -v", "true")
    assert said.startswith("host a: cannot run no-such-shell: there is no such program on PATH")
    assert "--remote-shell" in said


def test_a_host_that_cannot_be_reached(launcher: Launcher, tmp_path: Path) -> None:
    remote_shell = remote_shell_script(
        tmp_path, '[ $1 = b ] && { echo "$1: no route" >&2; exit 255; }; shift; exec "$@"'
    )
    said = refused(launcher, "--hosts", "a,b,c", "--remote-shell", remote_shell, "true")
    assert said.startswith(f"cannot reach host b: `{remote_shell} b` ended with code 255 and said: b: no route; ")
    assert f"`{remote_shell} b true` must work by hand" in said


def test_a_host_without_kumiki(launcher: Launcher, tmp_path: Path) -> None:
    remote_shell = remote_shell_script(tmp_path, 'exec "/nowhere/$2"')
    said = refused(launcher, "--hosts", "a", "--remote-shell", remote_shell, "true")
    assert said.startswith(f"cannot run {launcher.path} on host a: `{remote_shell} a` ended with code 127 and said: ")
    assert "must be installed in the same folder on all hosts" in said


def test_a_host_that_talks_before_its_host_daemon_does(launcher: Launcher, tmp_path: Path) -> None:
    remote_shell = remote_shell_script(tmp_path, 'echo "Welcome to $1"; shift; exec "$@"')
    assert lines(launcher.run("--hosts", "a,b", "--remote-shell", remote_shell, "echo", "hello")) == ["hello", "hello"]


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (
            "exec yes",
            r'host [ab]: something other .* prints on the standard output of `\S+ [ab]`: "y"; what login scripts',
        ),
        ("exec >&-; exec sleep 60", r"cannot reach host [ab]: `\S+ [ab]` closed its output; "),
        (
            'shift; (sleep 0.2; echo "You have mail") & exec "$@"',
            r'host [ab]: something other than .* `\S+ [ab]`: "You have mail"; the other ranks were ended',
        ),
    ],
    ids=["chatter", "closed", "mail"],
)
def test_a_remote_shell_that_says_something_else(
    launcher: Launcher, tmp_path: Path, script: str, complaint: str
) -> None:
    said = refused(launcher, "--hosts", "a,b", "--remote-shell", remote_shell_script(tmp_path, script), "sleep", "60")
    assert re.match(complaint, said)


def test_a_host_that_prints_much_at_its_login(launcher: Launcher, tmp_path: Path) -> None:
    """The pipe is full when the host daemon sends its greeting."""
    remote_shell = remote_shell_script(tmp_path, 'shift; { head -c 65500 /dev/zero; exec "$@"; } | { sleep 0.5; cat; }')
    assert lines(launcher.run("--hosts", "a,b", "--remote-shell", remote_shell, "echo", "hello")) == ["hello", "hello"]


def test_a_remote_shell_that_complains_without_end(launcher: Launcher, tmp_path: Path) -> None:
    remote_shell = remote_shell_script(tmp_path, 'yes complaint >&2 & shift; "$@"; kill $!')
    job = ("--hosts", "a,b", "--remote-shell", remote_shell)
    assert lines(launcher.run(*job, "echo", "hello")) == ["hello", "hello"]
    assert "host b: complaint" in launcher.run(*job, "--verbose", "true").stderr
    assert launcher.nothing_left(0.5)


def test_a_program_that_a_host_has_not(launcher: Launcher, remote_shell: str) -> None:
    said = refused(launcher, "--hosts", "a,b", "--remote-shell", remote_shell, "no-such-program")
    assert re.match("host [ab]: cannot run no-such-program: there is no such program on PATH", said)


def test_a_folder_that_a_host_has_not(launcher: Launcher, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    remote_shell = remote_shell_script(tmp_path, f'rmdir {folder}; shift; exec "$@"')
    said = refused(launcher, "--hosts", "a", "--remote-shell", remote_shell, "true", folder=folder)
    assert said.startswith(f"host a: cannot enter the folder {folder}: No such file or directory; start the job in a")


def test_a_folder_that_is_gone_before_the_start(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    hosts = f"{launcher.path} --hosts a --remote-shell {remote_shell}"
    result = launcher.shell(f"mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir ../gone && exec {hosts} true")
    assert result.returncode == ENVIRONMENT
    assert "cannot tell the current folder: No such file or directory; start the job in a folder" in result.stderr


def test_the_hidden_option_by_hand_says_what_it_is(launcher: Launcher) -> None:
    result = launcher.run("--host-daemon")
    assert result.returncode == USAGE
    assert "not by hand" in result.stderr
