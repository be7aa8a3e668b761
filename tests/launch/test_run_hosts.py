"""Jobs over several hosts. Here all hosts are this machine: the agent is a script that drops the host's name."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from launching import PATIENCE, Launcher, eventually, find_command
from test_run_signals import COUNT, Terminal, written

ENVIRONMENT = 3
USAGE = 2
ENDED = 2.0
"""Seconds after which nothing of a failed job is left."""

AGENTS = {
    "replaced": '#!/bin/sh\nshift\nexec "$@"\n',
    "between": '#!/bin/sh\nshift\n"$@"\n',  # stays between front and keeper, as ssh does
}

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    script = tmp_path / "agent"
    script.write_text(AGENTS[request.param])
    script.chmod(0o755)
    return str(script)


def a_script(tmp_path: Path, text: str) -> str:
    script = tmp_path / "special-agent"
    script.write_text("#!/bin/sh\n" + text)
    script.chmod(0o755)
    return str(script)


def lines(result: subprocess.CompletedProcess[str]) -> list[str]:
    assert result.returncode == 0, result.stderr
    return sorted(result.stdout.splitlines())


def count(launcher: Launcher, name: str) -> int:
    return list(launcher.processes().values()).count(name)


# What ranks find


def test_ranks_know_the_job_and_their_place_on_their_host(launcher: Launcher, agent: str) -> None:
    show = "echo $KUMIKI_RANK $KUMIKI_SIZE $KUMIKI_LOCAL_RANK $KUMIKI_LOCAL_SIZE"
    result = launcher.run("--hosts", "a,b,c", "-n", "8", "--agent", agent, "sh", "-c", show)
    places = [(0, 3), (1, 3), (2, 3), (0, 3), (1, 3), (2, 3), (0, 2), (1, 2)]
    assert lines(result) == [f"{rank} 8 {local} {size}" for rank, (local, size) in enumerate(places)]


def test_slots_and_a_file_of_hosts(launcher: Launcher, agent: str, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("# mine\na slots=1\nb:3  # more\n")
    show = ("--agent", agent, "sh", "-c", "echo $KUMIKI_RANK $KUMIKI_LOCAL_SIZE")
    assert lines(launcher.run("--hostfile", str(hosts), *show)) == ["0 1", "1 3", "2 3", "3 3"]
    assert lines(launcher.run("--hostfile", str(hosts), "-n", "2", *show)) == ["0 1", "1 1"]


def test_each_host_is_reached_by_its_name(launcher: Launcher, tmp_path: Path) -> None:
    agent = a_script(tmp_path, 'export REACHED="$2 as $1"; shift 2; exec "$@"\n')
    result = launcher.run("--hosts", "x,y", "--agent", f"'{agent}' \"my user\"", "sh", "-c", "echo $REACHED")
    assert lines(result) == ["x as my user", "y as my user"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--hosts", "a:2,b:1", "-n", "4"], "4 ranks are more than the 3 slots of the hosts; "),
        (["--hosts", "a,b,a"], "--hosts a,b,a: host a is named twice"),
        (["--hosts", "a", "--hostfile", "f"], "--hosts and --hostfile exclude each other"),
        (["--hostfile", "/no/such/file"], "cannot read the file of hosts /no/such/file: No such file or directory"),
        (["--agent", "rsh"], "--agent is of use only together with --hosts or --hostfile"),
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
    assert result.stderr.startswith(f'kumiki-run: {hosts}, line 3: the slots of host b are "two"')


def test_variables_of_the_front_reach_ranks(launcher: Launcher, tmp_path: Path) -> None:
    """The agent gives its host another environment, as a login does."""
    agent = a_script(
        tmp_path,
        'shift; exec env -i LAUNCH_TEST_MARK="$LAUNCH_TEST_MARK" PATH=/nowhere KUMIKI_WAIT=spin KUMIKI_RANK=7 '
        'KUMIKI_YIELD=7 OMP_PLACES=cores HERE=host "$@"\n',
    )
    environment = {
        "KUMIKI_SPIN": "5",
        "OMP_SCHEDULE": "static",
        "MINE": "a b",
        "NOT_MINE": "no",
        "KUMIKI_WAIT": "yield",
    }
    show = "echo $KUMIKI_SPIN,$OMP_SCHEDULE,$MINE,$NOT_MINE,$KUMIKI_WAIT,$KUMIKI_YIELD,$OMP_PLACES,$HERE,$KUMIKI_RANK"
    result = launcher.run(
        "--hosts", "a", "--agent", agent, "-x", "MINE", "sh", "-c", f"{show}; echo $PATH", environment=environment
    )
    assert lines(result) == sorted(["5,static,a b,,yield,,,host,0", os.environ["PATH"]])


def test_settings_and_the_folder_reach_ranks(launcher: Launcher, agent: str, tmp_path: Path) -> None:
    folder = tmp_path / "some folder"
    folder.mkdir()
    show = "pwd; echo $KUMIKI_THREADS $OMP_NUM_THREADS $KUMIKI_WAIT"
    result = subprocess.run(
        [launcher.path, "--hosts", "a,b", "--agent", agent, "-t", "3", "--wait", "sleep", "sh", "-c", show],
        env=launcher.environment(),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert lines(result) == sorted([str(folder), "3 3 sleep"] * 2)


def test_arguments_arrive_untouched(launcher: Launcher, agent: str) -> None:
    words = ["", "a b", "$HOME", "*", "'", "--hosts", "\n", "ü"]
    result = launcher.run("--hosts", "a", "--agent", agent, "printf", "<%s>", *words)
    assert result.stdout == "".join(f"<{word}>" for word in words)


def test_hosts_that_are_one_machine_share_its_cores(launcher: Launcher, agent: str) -> None:
    cores = {"HWLOC_SYNTHETIC": "pack:1 core:8 pu:1"}
    show = ("sh", "-c", "echo $KUMIKI_RANK $KUMIKI_CPUS. $KUMIKI_CROWDED $KUMIKI_THREADS")
    hosts = ("--hosts", "a,b", "--agent", agent)
    placed = launcher.run(*hosts, "-n", "3", "-t", "2", *show, environment=cores)
    assert lines(placed) == ["0 0,1. no 2", "1 2,3. no 2", "2 4,5. no 2"]
    assert lines(launcher.run(*hosts, "-n", "2", *show, environment=cores)) == ["0 0,1,2,3. no 4", "1 4,5,6,7. no 4"]
    assert lines(launcher.run(*hosts, "-t", "5", *show, environment=cores)) == ["0 . yes 5", "1 . yes 5"]
    told = launcher.run(*hosts, "-t", "2", "--verbose", *show, environment=cores)
    assert "host b: 1 x 2 (ranks x threads) on 8 usable cores, which 1 ranks of other hosts share" in told.stderr
    assert "host b: rank 1: threads on processors 2,3" in told.stderr


def test_ranks_of_one_host_share_memory_of_its_own_and_all_arenas_are_equal(launcher: Launcher, agent: str) -> None:
    show = "stat -Lc '%i %s' /proc/self/fd/$KUMIKI_SEGMENT"
    for environment in ({}, {"KUMIKI_ARENA": "64M"}):
        result = launcher.run("--hosts", "a:2,b:2", "--agent", agent, "sh", "-c", show, environment=environment)
        assert len({line.split()[0] for line in lines(result)}) == 2
        assert len({line.split()[1] for line in lines(result)}) == 1
    uneven = launcher.run("--hosts", "a:1,b:3", "--agent", agent, "sh", "-c", show, environment={"KUMIKI_ARENA": "64M"})
    sizes = {int(line.split()[1]) >> 20 for line in lines(uneven)}
    assert {size // 64 for size in sizes} == {1, 3}


OPEN_DESCRIPTORS = """
import os
os.write(1, f"{sorted(os.listdir('/proc/self/fd'))} {os.environ.get('KUMIKI_WIREUP')}\\n".encode())
"""


@pytest.mark.parametrize("hosts", ["a", "a,b"])
def test_nothing_else_is_inherited(launcher: Launcher, agent: str, hosts: str) -> None:
    expected = "['0', '1', '100', '101', '2', '3'] 101" if "," in hosts else "['0', '1', '100', '2', '3'] None"
    result = launcher.run("--hosts", hosts, "--agent", agent, "python3", "-c", OPEN_DESCRIPTORS)
    assert set(lines(result)) == {expected}


def test_a_job_inside_a_rank_has_nothing_of_the_outer_job(launcher: Launcher, agent: str) -> None:
    inner = f"{launcher.path} sh -c 'echo $KUMIKI_RANK $KUMIKI_SIZE $KUMIKI_LOCAL_SIZE +$KUMIKI_WIREUP'"
    assert lines(launcher.run("--hosts", "a,b", "--agent", agent, "sh", "-c", inner)) == ["0 1 1 +"] * 2


# Cards


def rank_program() -> str:
    program = Path(find_command("kumiki-run")).parents[1] / "tests" / "launch" / "kumiki-test-rank"
    if not program.exists():
        pytest.skip("kumiki-test-rank is not built")
    return str(program)


@pytest.mark.parametrize("size", [0, 1, 300, 65536])
def test_every_rank_gets_the_cards_of_all(launcher: Launcher, agent: str, size: int) -> None:
    result = launcher.run("--hosts", "a,b,c", "-n", "7", "--agent", agent, rank_program(), "cards", str(size))
    assert lines(result) == ["7 cards of 7"] * 7


def test_a_card_that_is_too_long_names_the_rank(launcher: Launcher, agent: str) -> None:
    result = launcher.run("--hosts", "a,b", "--agent", agent, rank_program(), "cards", "65537")
    assert result.returncode == ENVIRONMENT
    assert re.search(r"kumiki-run: rank [01] sent a card of 65537 bytes; the most is 65536", result.stderr)
    assert launcher.nothing_left(0.5)


def test_sixty_four_ranks_find_each_other_quickly(launcher: Launcher, agent: str) -> None:
    begin = time.monotonic()
    result = launcher.run("--hosts", "a,b,c,d", "-n", "64", "--agent", agent, rank_program(), "cards", "300")
    took = time.monotonic() - begin
    assert lines(result) == ["64 cards of 64"] * 64
    assert took < 3.0


# Output and input


def test_output_of_all_hosts_on_both_streams(launcher: Launcher, agent: str) -> None:
    result = launcher.run("--hosts", "a,b", "-n", "4", "--agent", agent, "sh", "-c", "echo $KUMIKI_RANK; echo e >&2")
    assert lines(result) == ["0", "1", "2", "3"]
    assert result.stderr == "e\n" * 4


def test_labels_keep_lines_whole(launcher: Launcher, agent: str) -> None:
    script = "for p in a b c; do printf $p; sleep 0.02; done; echo; printf last; echo e >&2"
    result = launcher.run("--hosts", "a,b", "-n", "4", "--label", "--agent", agent, "sh", "-c", script)
    assert lines(result) == sorted(f"[{rank}] {text}" for rank in range(4) for text in ("abc", "last"))
    assert sorted(result.stderr.splitlines()) == [f"[{rank}] e" for rank in range(4)]


def test_huge_output_is_whole(launcher: Launcher, agent: str) -> None:
    script = "head -c 5000000 /dev/zero | tr '\\0' $KUMIKI_RANK; echo"
    result = launcher.run("--hosts", "a,b", "--label", "--agent", agent, "sh", "-c", script)
    assert lines(result) == [f"[{rank}] " + str(rank) * 5_000_000 for rank in range(2)]


def test_only_rank_0_reads_the_input(launcher: Launcher, agent: str) -> None:
    result = launcher.run(
        "--hosts", "a,b", "-n", "4", "--agent", agent, "sh", "-c", 'echo "$KUMIKI_RANK:$(cat)"', text="x"
    )
    assert lines(result) == ["0:x", "1:", "2:", "3:"]


def test_much_input_arrives_whole_and_unread_input_does_no_harm(launcher: Launcher, agent: str, tmp_path: Path) -> None:
    text = "0123456789abcde\n" * 400_000
    hosts = ("--hosts", "a,b", "--agent", agent)
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


def test_ranks_notice_that_nobody_reads(launcher: Launcher, agent: str) -> None:
    pipeline = f"{launcher.path} --hosts a,b --agent {agent} yes 2> /dev/null | head -n 3; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(
        ["bash", "-c", pipeline], env=launcher.environment(), stdout=subprocess.PIPE, timeout=PATIENCE, check=False
    )
    assert result.stdout == b"y\n" * 3
    assert result.returncode == 128 + signal.SIGPIPE
    assert launcher.nothing_left()


def test_a_reader_that_does_not_read_keeps_the_front_awake(launcher: Launcher, agent: str) -> None:
    """One rank floods a stream that nobody reads; the failure of another one is still noticed, and a signal works."""
    flood = "[ $KUMIKI_RANK = 1 ] && sleep 0.5 && exit 5; exec yes"
    job = launcher.start("--hosts", "a,b", "--agent", agent, "sh", "-c", flood)
    assert eventually(lambda: count(launcher, "yes") == 1)
    assert eventually(lambda: count(launcher, "yes") == 0, 3.0)
    job.terminate()
    time.sleep(0.3)
    job.terminate()
    assert job.wait(3) == 5
    assert launcher.nothing_left(0.5)


# How a job ends


def test_the_first_failure_names_rank_and_host(launcher: Launcher, agent: str) -> None:
    begin = time.monotonic()
    script = "[ $KUMIKI_RANK = 5 ] && kill -9 $$; exec sleep 60"
    result = launcher.run("--hosts", "a,b", "-n", "8", "--agent", agent, "sh", "-c", script)
    assert result.returncode == 128 + 9
    how = r"was killed by signal 9 \(Killed\); the other ranks were ended"
    assert re.fullmatch(rf"kumiki-run: rank 5 of 8 on host b \(process \d+\) {how}\n", result.stderr)
    assert time.monotonic() - begin < ENDED
    assert launcher.nothing_left(0.5)


def test_only_the_first_failure_is_told(launcher: Launcher, agent: str) -> None:
    script = "trap 'exit 9' TERM; [ $KUMIKI_RANK = 2 ] && sleep 0.3 && exit 7; while :; do sleep 0.05; done"
    result = launcher.run("--hosts", "a,b", "-n", "4", "--agent", agent, "sh", "-c", script)
    assert result.returncode == 7
    assert result.stderr.count("kumiki-run:") == 1
    assert "rank 2 of 4 on host b" in result.stderr


def test_a_rank_that_has_not_left_the_job(launcher: Launcher, agent: str) -> None:
    result = launcher.run("--hosts", "a,b", "-n", "4", "--agent", agent, rank_program(), "joined", "0")
    assert result.returncode == 1
    assert re.search(r"rank \d of 4 on host [ab] .* ended without leaving the job", result.stderr)
    assert launcher.run("--hosts", "a,b", "-n", "4", "--agent", agent, rank_program(), "left", "0").returncode == 0


def test_a_good_end_on_one_host_does_not_end_the_others(launcher: Launcher, agent: str) -> None:
    script = "[ $KUMIKI_RANK = 0 ] || { sleep 0.5; echo late; }"
    assert lines(launcher.run("--hosts", "a,b", "--agent", agent, "sh", "-c", script)) == ["late"]


@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_signal_reaches_every_rank_once_and_then_they_are_killed(
    launcher: Launcher, agent: str, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    job = launcher.start("--hosts", "a,b", "--agent", agent, "sh", "-c", COUNT, environment={"OUT": str(out)})
    assert eventually(lambda: written(out) == [["ready"], ["ready"]])
    job.send_signal(signal.SIGUSR1)
    assert eventually(lambda: written(out) == [["ready", "USR1"]] * 2)
    number = signal.Signals[f"SIG{name}"]
    begin = time.monotonic()
    job.send_signal(number)
    assert job.wait(PATIENCE) == 128 + number
    assert 0.9 < time.monotonic() - begin < ENDED
    assert [words.count(name) for words in written(out)] == [1, 1]
    assert job.stderr is not None
    assert job.stderr.read() == ""
    assert launcher.nothing_left(0.5)


def test_control_c_in_a_terminal_reaches_every_rank_once(launcher: Launcher, agent: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hosts = ("--hosts", "a,b", "--agent", agent)
    terminal = Terminal(launcher, *hosts, "sh", "-c", COUNT, environment={"OUT": str(out)})
    assert eventually(lambda: written(out) == [["ready"], ["ready"]])
    terminal.type(b"\x03")
    assert terminal.wait() == 128 + signal.SIGINT
    assert [words.count("INT") for words in written(out)] == [1, 1]
    assert "kumiki-run:" not in terminal.output
    assert launcher.nothing_left(0.5)


def test_rank_0_reads_from_the_terminal(launcher: Launcher, agent: str) -> None:
    script = '[ $KUMIKI_RANK = 0 ] || exit 0; read line; echo "<$line>"'
    terminal = Terminal(launcher, "--hosts", "a,b", "--agent", agent, "sh", "-c", script)
    terminal.type(b"hello\n")
    assert terminal.wait() == 0
    assert "<hello>" in terminal.output


def test_a_second_request_kills_at_once(launcher: Launcher, agent: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    job = launcher.start("--hosts", "a,b", "--agent", agent, "sh", "-c", COUNT, environment={"OUT": str(out)})
    assert eventually(lambda: written(out) == [["ready"], ["ready"]])
    begin = time.monotonic()
    job.send_signal(signal.SIGINT)
    time.sleep(0.3)
    job.send_signal(signal.SIGINT)
    assert job.wait(PATIENCE) == 128 + signal.SIGINT
    assert time.monotonic() - begin < 0.95


def test_stop_and_continue(launcher: Launcher, agent: str) -> None:
    def states() -> list[str]:
        found = []
        for process, name in launcher.processes().items():
            if name == "sleep":
                found.append(Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0])
        return sorted(found)

    short = {"KUMIKI_TIMEOUT": "1"}
    job = launcher.start("--hosts", "a,b", "--agent", agent, "sleep", "60", environment=short)
    assert eventually(lambda: states() == ["S", "S"])
    job.send_signal(signal.SIGTSTP)
    assert eventually(lambda: states() == ["T", "T"])
    time.sleep(2.0)  # longer than the time after which a silent front is given up
    assert states() == ["T", "T"]
    job.send_signal(signal.SIGCONT)
    assert eventually(lambda: states() == ["S", "S"])
    time.sleep(0.5)
    assert job.poll() is None
    job.terminate()
    assert job.wait(PATIENCE) == 128 + signal.SIGTERM


# Nothing is left, whoever is killed

FAMILY = """
sleep 60 &
setsid sleep 61 &
(setsid sh -c 'trap "" TERM; sleep 62; sleep 63' &)
trap "" TERM
sleep 64; sleep 65
"""


@pytest.fixture
def family(launcher: Launcher, agent: str) -> subprocess.Popen[str]:
    """Two hosts with two ranks each, that have children, sessions of their own, and deafness."""
    job = launcher.start("--hosts", "a,b", "-n", "4", "--agent", agent, "sh", "-c", FAMILY)
    assert eventually(lambda: count(launcher, "sleep") == 16)
    return job


def children(process: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if int((entry / "stat").read_text().rpartition(") ")[2].split()[1]) == process:
                    found.append(int(entry.name))
            except OSError:
                continue
    return sorted(found)


def sentence_of(job: subprocess.Popen[str]) -> str:
    assert job.stderr is not None
    return job.stderr.read()


def test_killing_the_front_leaves_nothing(launcher: Launcher, family: subprocess.Popen[str]) -> None:
    family.kill()
    assert launcher.nothing_left()


def test_killing_an_agent_leaves_nothing_and_names_the_host(launcher: Launcher, family: subprocess.Popen[str]) -> None:
    os.kill(children(family.pid)[1], signal.SIGKILL)
    assert family.wait(ENDED) == ENVIRONMENT
    assert "kumiki-run: the connection to host b was lost: " in (said := sentence_of(family))
    assert "was killed by signal 9 (Killed); the other ranks were ended\n" in said
    assert launcher.nothing_left()


def test_killing_a_keeper_leaves_nothing_and_names_the_host(launcher: Launcher, family: subprocess.Popen[str]) -> None:
    last_agent = children(family.pid)[1]
    tree = [last_agent]
    for process in tree:
        tree += children(process)
    keeper = next(process for process in tree if launcher.processes().get(process) == "kumiki-keeper")
    os.kill(keeper, signal.SIGKILL)
    assert family.wait(ENDED) == ENVIRONMENT
    said = sentence_of(family)
    assert "kumiki-run: the connection to host b was lost: " in said
    assert f"the process that watches over the job (process {keeper}) was killed by signal 9 (Killed)" in said
    assert launcher.nothing_left()


def test_killing_everything_named_kumiki_run_leaves_nothing(launcher: Launcher, family: subprocess.Popen[str]) -> None:
    for process, name in launcher.processes().items():
        if name == "kumiki-run":
            os.kill(process, signal.SIGKILL)
    assert launcher.nothing_left()
    assert family.wait(ENDED) == -signal.SIGKILL


@pytest.mark.parametrize("victim", ["kumiki-run", "kumiki-keeper", "agent", "sh"])
def test_random_moments(launcher: Launcher, agent: str, victim: str) -> None:
    for round_number in range(6):
        job = launcher.start("--hosts", "a,b", "--agent", agent, "sh", "-c", "sleep 60 & setsid sleep 61 & wait")
        time.sleep(0.012 * round_number)
        alive = [process for process, name in launcher.processes().items() if name == victim]
        for process in alive[-1:]:
            os.kill(process, signal.SIGKILL)
        if not alive:
            job.kill()
        assert job.wait(5) != 0
        assert launcher.nothing_left(), (round_number, launcher.processes())


def test_a_silent_host_is_given_up(launcher: Launcher, agent: str) -> None:
    """As when its network is cut: no connection ends, and nothing comes."""
    short = {"KUMIKI_TIMEOUT": "1"}
    job = launcher.start("--hosts", "a,b", "--agent", agent, "sleep", "60", environment=short)
    assert eventually(lambda: count(launcher, "sleep") == 2)
    silent = [process for process, name in launcher.processes().items() if name == "kumiki-keeper"][-1]
    begin = time.monotonic()
    os.kill(silent, signal.SIGSTOP)
    try:
        assert job.wait(4) == ENVIRONMENT
    finally:
        os.kill(silent, signal.SIGCONT)
    assert time.monotonic() - begin < 3.0
    assert re.search(r"nothing was heard of host [ab] for 1 s \(KUMIKI_TIMEOUT\)", sentence_of(job))
    assert launcher.nothing_left()


def test_a_host_whose_front_is_silent_ends_its_ranks(launcher: Launcher, agent: str) -> None:
    short = {"KUMIKI_TIMEOUT": "1"}
    job = launcher.start("--hosts", "a,b", "--agent", agent, "sleep", "60", environment=short)
    assert eventually(lambda: count(launcher, "sleep") == 2)
    job.send_signal(signal.SIGSTOP)
    try:
        assert eventually(lambda: count(launcher, "sleep") == 0, 4.0)
    finally:
        job.send_signal(signal.SIGCONT)
    assert job.wait(PATIENCE) == ENVIRONMENT
    assert launcher.nothing_left()


# Hosts that cannot be reached


def refused(launcher: Launcher, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    begin = time.monotonic()
    result = launcher.run(*arguments, environment=environment)
    assert result.returncode == ENVIRONMENT
    assert result.stderr.startswith("kumiki-run: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert time.monotonic() - begin < ENDED
    assert launcher.nothing_left(0.5)
    return result.stderr.removeprefix("kumiki-run: ")


def test_an_agent_that_is_nowhere(launcher: Launcher) -> None:
    said = refused(launcher, "--hosts", "a,b", "--agent", "no-such-agent -v", "true")
    assert said.startswith("host a: cannot run no-such-agent: there is no such program on PATH")
    assert "--agent" in said


def test_a_host_that_cannot_be_reached(launcher: Launcher, tmp_path: Path) -> None:
    agent = a_script(tmp_path, '[ $1 = b ] && { echo "$1: no route" >&2; exit 255; }; shift; exec "$@"\n')
    said = refused(launcher, "--hosts", "a,b,c", "--agent", agent, "true")
    assert said.startswith(f"cannot reach host b: `{agent} b` ended with code 255 and said: b: no route; ")
    assert f"`{agent} b true` must work by hand" in said


def test_a_host_without_kumiki(launcher: Launcher, tmp_path: Path) -> None:
    agent = a_script(tmp_path, 'exec "/nowhere/$2"\n')
    said = refused(launcher, "--hosts", "a", "--agent", agent, "true")
    assert said.startswith(f"cannot run {launcher.path} on host a: `{agent} a` ended with code 127 and said: ")
    assert "must be installed in the same folder on all hosts" in said


def test_a_host_that_talks_before_its_keeper_does(launcher: Launcher, tmp_path: Path) -> None:
    agent = a_script(tmp_path, 'echo "Welcome to $1"; shift; exec "$@"\n')
    assert lines(launcher.run("--hosts", "a,b", "--agent", agent, "echo", "hello")) == ["hello", "hello"]


def test_a_program_or_folder_that_a_host_has_not(launcher: Launcher, agent: str, tmp_path: Path) -> None:
    said = refused(launcher, "--hosts", "a,b", "--agent", agent, "no-such-program")
    assert re.match("host [ab]: cannot run no-such-program: there is no such program on PATH", said)
    away = a_script(tmp_path, f'rmdir {tmp_path}/gone 2> /dev/null; shift; exec "$@"\n')
    (tmp_path / "gone").mkdir()
    result = subprocess.run(
        [launcher.path, "--hosts", "a", "--agent", away, "true"],
        env=launcher.environment(),
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == ENVIRONMENT
    assert "start the job in a folder that all hosts have" in result.stderr


def test_the_hidden_option_by_hand_says_what_it_is(launcher: Launcher) -> None:
    result = launcher.run("--keep")
    assert result.returncode == USAGE
    assert "not by hand" in result.stderr
