"""Jobs that the mpirun of Open MPI and MPICH starts: the library detects the launcher by itself."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable

import pytest
from clustering import Hosts
from joining_jobs import Mpirun, Starter, all_of, build, by_rank, expect_job, find_mpirun, need_module, places
from kumiki.machine import mpi

JOIN_FAILED = 5
WITH_LAUNCHER = 10.0
"""Seconds for a short job, most of which mpirun itself needs to start and end."""


@pytest.fixture(params=mpi.ALL, ids=lambda kind: kind.name)
def mpirun(request: pytest.FixtureRequest) -> Mpirun:
    return find_mpirun(request.param)


@pytest.fixture(scope="module")
def build_with(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mpirun], str]:
    """With one MPI, built once for each. The ranks that MPICH 4.2.0 of Ubuntu 24.04 starts do not find each other."""
    built: dict[str, str] = {}
    usable: dict[str, bool] = {}

    def with_mpi(mpirun: Mpirun) -> str:
        name = mpirun.kind.name
        if name not in built:
            built[name] = str(build(tmp_path_factory.mktemp(name), mpirun.compiler()))
            counted = Starter().run(*mpirun.on_this_host(2), built[name], "count")
            usable[name] = "1 ranks of MPI" not in counted.stdout
        if not usable[name]:
            pytest.skip(f"the ranks of this {mpirun.kind.title} do not find each other, with or without Kumiki")
        return built[name]

    return with_mpi


@pytest.mark.parametrize("ranks", [1, 2, 4, 7])
def test_a_job_on_one_host(mpirun: Mpirun, starter: Starter, program: str, ranks: int) -> None:
    ended = starter.run(*mpirun.on_this_host(ranks), program, "alone")
    expect_job(ended, ranks)
    assert starter.nothing_left()


def test_threads_as_asked_for_and_crowded(mpirun: Mpirun, starter: Starter, program: str) -> None:
    many = {"KUMIKI_THREADS": "100"}
    ended = starter.run(*mpirun.on_this_host(2), program, "alone", environment=many)
    assert ended.returncode == 0, ended.stderr
    assert len(re.findall(r"100 threads, crowded", ended.stdout)) == 2
    one = {"KUMIKI_THREADS": "1"}
    ended = starter.run(*mpirun.on_this_host(2), program, "alone", environment=one)
    assert len(re.findall(r"1 threads, not crowded", ended.stdout)) == 2


def test_threads_of_each_rank(mpirun: Mpirun, starter: Starter, program: str) -> None:
    each = {"KUMIKI_THREADS": "3,1,2"}
    ended = starter.run(*mpirun.on_this_host(3), program, "alone", environment=each)
    assert ended.returncode == 0, ended.stderr
    told = re.findall(r"rank (\d) of 3, (\d) threads, .*crowded, of all 3,1,2", ended.stdout)
    assert sorted(told) == [("0", "3"), ("1", "1"), ("2", "2")]
    ended = starter.run_that_fails(mpirun.on_this_host(2), program, "alone", environment=each)
    assert ended.returncode != 0
    assert "KUMIKI_THREADS of rank 0 has 3 numbers, but the job has 2 ranks" in ended.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")
def test_a_crowded_job_is_bound_when_asked(mpirun: Mpirun, starter: Starter, program: str) -> None:
    """The launcher leaves its ranks on both processors; each rank's two threads get different ones."""
    first, second = sorted(os.sched_getaffinity(0))[:2]
    commands = [["taskset", "-c", f"{first},{second}", program, "alone"]] * 2
    asked = {"KUMIKI_THREADS": "2", "KUMIKI_BIND": "shared"}
    ended = starter.run(*mpirun.on_this_host(2), *by_rank(*commands), environment=asked)
    assert ended.returncode == 0, ended.stderr
    assert f"rank 0 of 2, 2 threads, crowded, of all 2,2, on {first},{first}\n" in ended.stdout
    assert f"rank 1 of 2, 2 threads, crowded, of all 2,2, on {second},{second}\n" in ended.stdout


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")
def test_ranks_that_are_bound(mpirun: Mpirun, starter: Starter, program: str) -> None:
    """Each rank has as many threads as processors; two ranks on the same processor are crowded, and both know it."""
    first, second = sorted(os.sched_getaffinity(0))[:2]
    apart = bound(mpirun, starter, program, first, second)
    assert apart.count("1 threads, not crowded") == 2
    together = bound(mpirun, starter, program, first, first)
    assert together.count("1 threads, crowded") == 2


def bound(mpirun: Mpirun, starter: Starter, program: str, *cpus: int) -> str:
    """The output of ranks that are bound to one processor each."""
    commands = [["taskset", "-c", str(cpu), program, "alone"] for cpu in cpus]
    ended = starter.run(*mpirun.on_this_host(len(cpus)), *by_rank(*commands))
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_job_of_its_own_where_that_is_asked_for(mpirun: Mpirun, starter: Starter, program: str) -> None:
    ended = starter.run(*mpirun.on_this_host(2), program, "alone", environment={"KUMIKI_SIZE": "1"})
    assert ended.returncode == 0, ended.stderr
    assert places(ended.stdout) == [(0, 1), (0, 1)]


def is_mpich_from_4_2(mpirun: Mpirun) -> bool:
    numbers = (mpi.version(mpirun.kind) or "0.0").split(".")
    return mpirun.kind is mpi.MPICH and [int(number) for number in numbers[:2]] >= [4, 2]


def test_over_hosts(mpirun: Mpirun, starter: Starter, program: str, cluster: Hosts) -> None:
    need_module("kumiki-ucx", "libucx-dev")
    command = mpirun.over(cluster.namespaces, 2)
    ended = starter.run(*command, program, "alone", environment={"KUMIKI_INTERFACE": "eth0"})
    expect_job(ended, 8)
    assert starter.nothing_left()


@pytest.mark.parametrize("when", ["before", "during", "left"])
def test_beside_mpi(mpirun: Mpirun, starter: Starter, build_with: Callable[[Mpirun], str], when: str) -> None:
    ended = starter.run(*mpirun.on_this_host(3), build_with(mpirun), when)
    expect_job(ended, 3)


@pytest.mark.parametrize("when", ["after", "slow"])
def test_after_mpi(mpirun: Mpirun, starter: Starter, build_with: Callable[[Mpirun], str], when: str) -> None:
    """MPI_Finalize of MPICH before 4.2 closes the connection to its launcher; the error message says so. Open MPI's
    launcher counts a rank whose connection MPI_Finalize closes as lost to the fence that others have begun.
    """
    ended = starter.run_that_fails(mpirun.on_this_host(3), build_with(mpirun), when)
    if mpirun.kind is mpi.OPENMPI or is_mpich_from_4_2(mpirun):
        expect_job(ended, 3)
    else:
        assert ended.returncode != 0
        assert "must join before MPI_Finalize" in ended.stderr


def test_a_process_joins_once(mpirun: Mpirun, starter: Starter, program: str) -> None:
    ended = starter.run_that_fails(mpirun.on_this_host(2), program, "twice")
    assert ended.returncode != 0
    assert re.search(r"rank [01] has already joined the job; a process joins once", ended.stderr)


@pytest.mark.parametrize("how", ["killed", "exited"])
def test_a_rank_dies(mpirun: Mpirun, starter: Starter, program: str, how: str) -> None:
    begin = time.monotonic()
    ended = starter.run_that_fails(mpirun.on_this_host(3), program, how)
    # MPICH 4.2 itself returns 0 now and then when a rank of a plain MPI program exits (6 of 60 runs on a busy machine).
    assert ended.returncode != 0 or (how == "exited" and is_mpich_from_4_2(mpirun))
    assert places(ended.stdout) == all_of(3)  # it had joined
    assert time.monotonic() - begin < 20
    assert starter.nothing_left()


def test_a_stopped_rank_is_named_by_its_neighbour(
    mpirun: Mpirun, starter: Starter, program: str, make_cluster: Callable[..., Hosts]
) -> None:
    """Rank 2 sends heartbeats for its host; while it is stopped, rank 3 does. The program is told before it ends."""
    need_module("kumiki-ucx", "libucx-dev")
    hosts = make_cluster(2)
    settings = {"KUMIKI_INTERFACE": "eth0", "KUMIKI_TIMEOUT": "4"}
    ended = starter.run_that_fails(mpirun.over(hosts.namespaces, 2), program, "stopped", environment=settings)
    assert ended.returncode != 0
    first = ended.stderr[ended.stderr.index("kumiki:") :].splitlines()[0]
    how = "has been stopped for 4 s (KUMIKI_TIMEOUT); KUMIKI_STOPPED=wait waits for it"
    assert re.fullmatch(
        rf"kumiki: rank 3 on host \S+ ends the job: rank 2 on host \S+ \(process \d+\) {re.escape(how)}", first
    )
    assert f"the program of rank 3 was told: {first.removeprefix('kumiki: ')}\n" in ended.stdout


@pytest.mark.parametrize("place", ["one-host", "hosts"])
def test_a_rank_that_exits_with_0_within_the_job(
    mpirun: Mpirun, starter: Starter, program: str, place: str, request: pytest.FixtureRequest
) -> None:
    command = mpirun.on_this_host(3)
    if place == "hosts":
        need_module("kumiki-ucx", "libucx-dev")
        hosts: Hosts = request.getfixturevalue("make_cluster")(3)
        command = mpirun.over(hosts.namespaces, 1)
    begin = time.monotonic()
    environment = {"KUMIKI_INTERFACE": "eth0"} if place == "hosts" else {}
    ended = starter.run_that_fails(command, program, "ended", environment=environment)
    assert ended.returncode != 0
    assert places(ended.stdout) == all_of(3)
    said = re.findall(r"kumiki: (rank \d of 3) on host \S+ \(process \d+\) ended without leaving the job", ended.stderr)
    assert said == ["rank 2 of 3"]
    assert time.monotonic() - begin < WITH_LAUNCHER
    assert starter.nothing_left()


def test_a_job_that_is_left_when_main_has_returned(mpirun: Mpirun, starter: Starter, program: str) -> None:
    ended = starter.run(*mpirun.on_this_host(3), program, "late")
    expect_job(ended, 3)
    assert "without leaving" not in ended.stderr


def test_arenas_of_different_sizes(mpirun: Mpirun, starter: Starter, program: str) -> None:
    """The smallest size counts."""
    commands = [["env", f"KUMIKI_ARENA={size}", program, "alone"] for size in ("64M", "1G")]
    ended = starter.run(*mpirun.on_this_host(2), *by_rank(*commands))
    expect_job(ended, 2)


def test_all_ranks_fail_where_one_does(mpirun: Mpirun, starter: Starter, program: str) -> None:
    ended = starter.run_that_fails(mpirun.on_this_host(3), program, "alone", environment={"KUMIKI_ARENA": "60T"})
    assert ended.returncode != 0
    assert "is more than the address space has" in ended.stderr
    assert not places(ended.stdout)
    assert starter.nothing_left()


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"PMI_PORT": "host:1", "PMI_ID": "0"}, "mpirun without -pmi-port"),
        ({"PMI_FD": "777", "PMI_RANK": "0", "PMI_SIZE": "2"}, "PMI_FD=777: Bad file descriptor"),
        ({"PMI_FD": "777", "PMI_RANK": "2", "PMI_SIZE": "2"}, "contradict each other"),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2"}, "use srun --mpi=pmix or --mpi=pmi2"),
    ],
)
def test_a_launcher_that_cannot_be_used(
    starter: Starter, program: str, environment: dict[str, str], sentence: str
) -> None:
    ended = starter.run(program, "alone", environment=environment)
    assert ended.returncode == JOIN_FAILED
    assert sentence in ended.stderr


def test_without_a_launcher(starter: Starter, program: str) -> None:
    ended = starter.run(program, "alone")
    expect_job(ended, 1)
