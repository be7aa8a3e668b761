"""What a rank finds: its environment, its descriptors, its input, its processors."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from launching import ENVIRONMENT, Launcher, lines

CORES = len(os.sched_getaffinity(0))
SHOW = "echo $KUMIKI_RANK $KUMIKI_SIZE $KUMIKI_THREADS $KUMIKI_WAIT $KUMIKI_CPUS. $KUMIKI_CROWDED"
TWO_PACKAGES = {"HWLOC_SYNTHETIC": "pack:2 l3:1 core:8 pu:2"}


def test_every_rank_knows_its_number(launcher: Launcher) -> None:
    result = launcher.run("-n", "5", "-t", "1", "sh", "-c", "echo $KUMIKI_RANK of $KUMIKI_SIZE")
    assert lines(result) == [f"{rank} of 5" for rank in range(5)]


def test_on_one_host_all_ranks_are_local(launcher: Launcher) -> None:
    outer = {"KUMIKI_SIZE": "9", "KUMIKI_LOCAL_RANK": "7", "KUMIKI_LOCAL_SIZE": "9", "KUMIKI_WIREUP": "5"}
    show = "echo $KUMIKI_LOCAL_RANK of $KUMIKI_LOCAL_SIZE +$KUMIKI_WIREUP"
    result = launcher.run("-n", "3", "sh", "-c", show, environment=outer)
    assert lines(result) == [f"{rank} of 3 +" for rank in range(3)]


def test_one_rank_by_default(launcher: Launcher) -> None:
    assert lines(launcher.run("sh", "-c", "echo $KUMIKI_RANK $KUMIKI_SIZE")) == ["0 1"]


def test_settings_reach_the_ranks(launcher: Launcher) -> None:
    result = launcher.run(
        "-t", "3", "--wait", "yield", "--bind", "none", "sh", "-c", "echo $KUMIKI_THREADS $KUMIKI_WAIT $KUMIKI_BIND"
    )
    assert lines(result) == ["3 yield none"]


@pytest.mark.parametrize(("ranks", "threads"), [(1, 16), (2, 8), (3, 5), (16, 1), (20, 1)])
def test_by_default_the_cores_are_shared_among_the_ranks(launcher: Launcher, ranks: int, threads: int) -> None:
    result = launcher.run("-n", str(ranks), "sh", "-c", "echo $KUMIKI_THREADS", environment=TWO_PACKAGES)
    assert lines(result) == [str(threads)] * ranks


def test_the_variable_sets_the_threads_and_the_option_wins(launcher: Launcher) -> None:
    variable = {"KUMIKI_THREADS": "5"}
    assert lines(launcher.run("sh", "-c", "echo $KUMIKI_THREADS", environment=variable)) == ["5"]
    assert lines(launcher.run("-t", "3", "sh", "-c", "echo $KUMIKI_THREADS", environment=variable)) == ["3"]


def test_openmp_gets_the_threads_of_the_rank_unless_the_user_says_otherwise(launcher: Launcher) -> None:
    show = ("sh", "-c", "echo $OMP_NUM_THREADS")
    assert lines(launcher.run("-t", "3", *show)) == ["3"]
    assert lines(launcher.run("-t", "3", *show, environment={"OMP_NUM_THREADS": "7"})) == ["7"]


def test_ranks_get_cores_and_not_hardware_threads(launcher: Launcher) -> None:
    result = launcher.run("-n", "4", "-t", "4", "sh", "-c", SHOW, environment=TWO_PACKAGES)
    assert lines(result) == [
        "0 4 4 0,2,4,6. no",
        "1 4 4 8,10,12,14. no",
        "2 4 4 16,18,20,22. no",
        "3 4 4 24,26,28,30. no",
    ]


def test_a_rank_stays_inside_a_package_when_there_is_room(launcher: Launcher) -> None:
    result = launcher.run("-n", "2", "-t", "5", "sh", "-c", "echo $KUMIKI_CPUS", environment=TWO_PACKAGES)
    assert lines(result) == ["0,2,4,6,8", "16,18,20,22,24"]


def test_a_crowded_job_is_not_bound(launcher: Launcher) -> None:
    result = launcher.run("-n", "2", "-t", "9", "sh", "-c", SHOW, environment=TWO_PACKAGES)
    assert lines(result) == ["0 2 9 . yes", "1 2 9 . yes"]


def test_verbose_tells_the_placement(launcher: Launcher) -> None:
    result = launcher.run("-n", "2", "-t", "2", "--verbose", "true", environment=TWO_PACKAGES)
    assert "2 x 2 (ranks x threads) on 16 usable cores" in result.stderr
    assert "rank 1: threads on processors 4,6; may use 4-7" in result.stderr
    crowded = launcher.run("-n", "2", "-t", "9", "--verbose", "true", environment=TWO_PACKAGES)
    assert "more threads than cores" in crowded.stderr


def allowed(launcher: Launcher, *options: str) -> list[str]:
    result = launcher.run(*options, "sh", "-c", "echo $KUMIKI_RANK $(grep Cpus_allowed_list /proc/self/status)")
    return [line.split()[-1] for line in lines(result)]


def own_processors() -> str:
    return Path("/proc/self/status").read_text().partition("Cpus_allowed_list:")[2].split()[0]


@pytest.mark.skipif(CORES < 2, reason="needs two processors")
def test_each_rank_runs_on_a_processor_of_its_own(launcher: Launcher) -> None:
    processors = allowed(launcher, "-n", "2", "-t", "1")
    assert len(set(processors)) == 2


def test_unbound_ranks_keep_all_processors(launcher: Launcher) -> None:
    assert allowed(launcher, "-n", "1", "-t", "1", "--bind", "none") == [own_processors()]
    assert allowed(launcher, "-n", "2", "-t", str(CORES)) == [own_processors()] * 2


def test_the_affinity_of_the_launcher_is_respected(launcher: Launcher) -> None:
    last = max(os.sched_getaffinity(0))
    result = subprocess.run(
        ["taskset", "-c", str(last), launcher.path, "-n", "1", "sh", "-c", "echo $KUMIKI_CPUS $KUMIKI_THREADS"],
        env=launcher.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == f"{last} 1\n"


OPEN_DESCRIPTORS = """
import os
for number in range(3, 1024):
    try:
        os.write(1, f"{number} {os.readlink(f'/proc/self/fd/{number}')}\\n".encode())
    except FileNotFoundError:
        pass
"""


@pytest.mark.parametrize("label", [[], ["--label"]])
def test_ranks_inherit_the_shared_memory_and_nothing_else_of_the_launcher(launcher: Launcher, label: list[str]) -> None:
    found = lines(launcher.run("-n", "3", *label, "python3", "-c", OPEN_DESCRIPTORS))
    assert len(found) == 3
    for line in found:
        number, target = line.split("] ")[-1].split(" ", 1)
        assert target == "/memfd:kumiki (deleted)"
        assert int(number) >= 100  # above the small numbers that scripts use


def test_descriptors_of_the_user_reach_the_ranks(launcher: Launcher, tmp_path: Path) -> None:
    (tmp_path / "input").write_text("mine\n")
    script = f"exec {launcher.path} -n 2 sh -c 'readlink /proc/self/fd/7' 7< {tmp_path}/input"
    result = subprocess.run(
        ["bash", "-c", script], env=launcher.environment(), capture_output=True, text=True, check=True
    )
    assert lines(result) == [f"{tmp_path}/input"] * 2


def test_all_ranks_share_one_memory(launcher: Launcher) -> None:
    result = launcher.run("-n", "4", "sh", "-c", "stat -Lc %i /proc/self/fd/$KUMIKI_SEGMENT")
    assert len(set(lines(result))) == 1


def test_only_rank_0_reads_the_input(launcher: Launcher, place: tuple[str, ...]) -> None:
    result = launcher.run(*place, "-n", "3", "sh", "-c", 'echo "$KUMIKI_RANK:$(cat)"', text="hello")
    assert lines(result) == ["0:hello", "1:", "2:"]


def test_limits_of_the_user_reach_the_ranks(launcher: Launcher) -> None:
    limited = f"ulimit -Sn 200; exec {launcher.path} -n 2 --label sh -c 'ulimit -Sn'"
    result = subprocess.run(
        ["sh", "-c", limited], env=launcher.environment(), capture_output=True, text=True, check=True
    )
    assert sorted(result.stdout.splitlines()) == ["[0] 200", "[1] 200"]


def test_too_few_open_files_are_told_with_the_number_that_is_needed(launcher: Launcher, place: tuple[str, ...]) -> None:
    result = launcher.shell(f"ulimit -n 20; {launcher.path} {shlex.join(place)} -n 2 true")
    assert result.returncode == ENVIRONMENT
    who = (
        "2 host\\(s\\) need 42; raise it \\(ulimit -n 64\\)"
        if place
        else "2 rank\\(s\\) on this host need 130; .* 256\\)"
    )
    assert re.fullmatch(f"kumiki-run: the limit of open files is 20, and {who}\n", result.stderr)


def test_a_limit_of_files_below_the_memory_of_the_ranks_is_told(launcher: Launcher, place: tuple[str, ...]) -> None:
    result = launcher.shell(f"ulimit -f 1000; {launcher.path} {shlex.join(place)} -n 2 true")
    assert result.returncode == ENVIRONMENT
    assert re.search(
        "cannot reserve [0-9]+ bytes of shared memory, as files may have [0-9]+ bytes here; "
        "raise that \\(ulimit -f unlimited\\)\n",
        result.stderr,
    )


def test_stacks_may_be_as_small_as_the_contents_of_a_pipe(launcher: Launcher, place: tuple[str, ...]) -> None:
    text = "0123456789" * 10000
    result = launcher.shell(f"printf %s {text} | (ulimit -s 64; {launcher.path} {shlex.join(place)} -n 2 cat)")
    assert result.stdout == text
    assert result.stderr == ""


def test_a_launcher_without_standard_streams_works(launcher: Launcher, tmp_path: Path) -> None:
    out = tmp_path / "out"
    closed = f"exec {launcher.path} -n 2 sh -c 'echo $KUMIKI_RANK >> {out}' <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", closed], env=launcher.environment(), check=False).returncode == 0
    assert sorted(out.read_text().split()) == ["0", "1"]


def test_sixty_four_ranks_on_few_cores_come_and_go(launcher: Launcher) -> None:
    result = launcher.run("-n", "64", "sh", "-c", "echo $KUMIKI_RANK")
    assert sorted(map(int, result.stdout.split())) == list(range(64))
    assert launcher.nothing_left()


def test_a_job_inside_a_rank(launcher: Launcher, place: tuple[str, ...]) -> None:
    """It has nothing from the outer job."""
    inner = f"{launcher.path} -n 2 sh -c 'echo $KUMIKI_RANK $KUMIKI_SIZE $KUMIKI_LOCAL_SIZE +$KUMIKI_WIREUP'"
    assert lines(launcher.run(*place, "-n", "2", "sh", "-c", inner)) == ["0 2 2 +", "0 2 2 +", "1 2 2 +", "1 2 2 +"]
