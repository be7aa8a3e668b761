"""The environment of ranks on several hosts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from launching import Launcher, lines, remote_shell_script


def test_ranks_know_the_job_and_their_place_on_their_host(launcher: Launcher, remote_shell: str) -> None:
    show = "echo $KUMIKI_RANK $KUMIKI_SIZE $KUMIKI_LOCAL_RANK $KUMIKI_LOCAL_SIZE"
    result = launcher.run("--hosts", "a,b,c", "-n", "8", "--remote-shell", remote_shell, "sh", "-c", show)
    places = [(0, 3), (1, 3), (2, 3), (0, 3), (1, 3), (2, 3), (0, 2), (1, 2)]
    assert lines(result) == [f"{rank} 8 {local} {size}" for rank, (local, size) in enumerate(places)]


def test_slots_and_a_file_of_hosts(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("# mine\na slots=1\nb:3  # more\n")
    show = ("--remote-shell", remote_shell, "sh", "-c", "echo $KUMIKI_RANK $KUMIKI_LOCAL_SIZE")
    assert lines(launcher.run("--hostfile", str(hosts), *show)) == ["0 1", "1 3", "2 3", "3 3"]
    assert lines(launcher.run("--hostfile", str(hosts), "-n", "2", *show)) == ["0 1", "1 1"]


def test_each_host_is_reached_by_its_name(launcher: Launcher, tmp_path: Path) -> None:
    remote_shell = remote_shell_script(tmp_path, 'export REACHED="$2 as $1"; shift 2; exec "$@"')
    result = launcher.run(
        "--hosts", "x,y", "--remote-shell", f"'{remote_shell}' \"my user\"", "sh", "-c", "echo $REACHED"
    )
    assert lines(result) == ["x as my user", "y as my user"]


def test_variables_of_the_front_reach_ranks(launcher: Launcher, tmp_path: Path) -> None:
    """The remote shell gives its host a different environment, as a login does."""
    remote_shell = remote_shell_script(
        tmp_path,
        'shift; exec env -i LAUNCH_TEST_MARK="$LAUNCH_TEST_MARK" PATH=/nowhere KUMIKI_WAIT=spin KUMIKI_RANK=7 '
        'KUMIKI_YIELD=7 OMP_PLACES=cores HERE=host "$@"',
    )
    environment = {
        "KUMIKI_SPIN": "5",
        "OMP_SCHEDULE": "static",
        "MINE": "a b",
        "NOT_MINE": "no",
        "KUMIKI_WAIT": "yield",
    }
    names = "KUMIKI_SPIN OMP_SCHEDULE MINE NOT_MINE KUMIKI_WAIT KUMIKI_YIELD OMP_PLACES GIVEN HERE KUMIKI_RANK"
    show = "echo " + ",".join(f"${name}" for name in names.split())
    result = launcher.run(
        "--hosts",
        "a",
        "--remote-shell",
        remote_shell,
        "-x",
        "MINE",
        "-x",
        "GIVEN=c=d e",
        "-x",
        "OMP_PLACES=threads",
        "sh",
        "-c",
        f"{show}; echo $PATH",
        environment=environment,
    )
    assert lines(result) == sorted(["5,static,a b,,yield,,threads,c=d e,host,0", os.environ["PATH"]])


def test_settings_and_the_folder_reach_ranks(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    folder = tmp_path / "some folder"
    folder.mkdir()
    show = "pwd; echo $KUMIKI_THREADS $OMP_NUM_THREADS $KUMIKI_WAIT"
    settings = ("-t", "3", "--wait", "sleep")
    result = launcher.run("--hosts", "a,b", "--remote-shell", remote_shell, *settings, "sh", "-c", show, folder=folder)
    assert lines(result) == sorted([str(folder), "3 3 sleep"] * 2)


def test_arguments_arrive_untouched(launcher: Launcher, remote_shell: str) -> None:
    words = ["", "a b", "$HOME", "*", "'", "--hosts", "\n", "ü"]
    result = launcher.run("--hosts", "a", "--remote-shell", remote_shell, "printf", "<%s>", *words)
    assert result.stdout == "".join(f"<{word}>" for word in words)


def test_hosts_that_are_one_machine_share_its_cores(launcher: Launcher, remote_shell: str) -> None:
    cores = {"HWLOC_SYNTHETIC": "pack:1 core:8 pu:1"}
    show = ("sh", "-c", "echo $KUMIKI_RANK $KUMIKI_CPUS. $KUMIKI_CROWDED $KUMIKI_THREADS")
    hosts = ("--hosts", "a,b", "--remote-shell", remote_shell)
    placed = launcher.run(*hosts, "-n", "3", "-t", "2", *show, environment=cores)
    assert lines(placed) == ["0 0,1. no 2", "1 2,3. no 2", "2 4,5. no 2"]
    assert lines(launcher.run(*hosts, "-n", "2", *show, environment=cores)) == ["0 0,1,2,3. no 4", "1 4,5,6,7. no 4"]
    assert lines(launcher.run(*hosts, "-t", "5", *show, environment=cores)) == ["0 . yes 5", "1 . yes 5"]
    told = launcher.run(*hosts, "-t", "2", "--verbose", *show, environment=cores)
    assert "host b: 1 x 2 (ranks x threads) on 8 usable cores, which 1 ranks of other hosts share" in told.stderr
    assert "host b: rank 1: threads on processors 2,3" in told.stderr


def test_ranks_of_one_host_share_memory_of_its_own_and_all_arenas_are_equal(
    launcher: Launcher, remote_shell: str
) -> None:
    show = "stat -Lc '%i %s' /proc/self/fd/$KUMIKI_SEGMENT"
    for environment in ({}, {"KUMIKI_ARENA": "64M"}):
        result = launcher.run(
            "--hosts", "a:2,b:2", "--remote-shell", remote_shell, "sh", "-c", show, environment=environment
        )
        assert len({line.split()[0] for line in lines(result)}) == 2
        assert len({line.split()[1] for line in lines(result)}) == 1
    uneven = launcher.run(
        "--hosts", "a:1,b:3", "--remote-shell", remote_shell, "sh", "-c", show, environment={"KUMIKI_ARENA": "64M"}
    )
    sizes = {int(line.split()[1]) >> 20 for line in lines(uneven)}
    assert {size // 64 for size in sizes} == {1, 3}


OPEN_DESCRIPTORS = """
import os
os.write(1, f"{sorted(os.listdir('/proc/self/fd'))} {os.environ.get('KUMIKI_WIREUP')}\\n".encode())
"""


@pytest.mark.parametrize("hosts", ["a", "a,b"])
def test_nothing_else_is_inherited(launcher: Launcher, any_remote_shell: str, hosts: str) -> None:
    expected = "['0', '1', '100', '101', '2', '3'] 101" if "," in hosts else "['0', '1', '100', '2', '3'] None"
    result = launcher.run("--hosts", hosts, "--remote-shell", any_remote_shell, "python3", "-c", OPEN_DESCRIPTORS)
    assert set(lines(result)) == {expected}


def test_more_hosts_than_the_limit_of_open_files_suggests(launcher: Launcher, remote_shell: str) -> None:
    """The launcher raises its limit as far as it may; ranks get the limit that the user has set."""
    hosts = ",".join(f"h{number}" for number in range(12))
    job = f"{launcher.path} --hosts {hosts} --remote-shell {remote_shell} sh -c 'ulimit -Sn'"
    assert lines(launcher.shell(f"ulimit -Sn 30; {job}")) == ["30"] * 12
