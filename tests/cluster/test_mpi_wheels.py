"""Jobs that the mpirun of a Python wheel starts: Open MPI 5 and MPICH 5, on systems with older ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from clustering import Hosts
from joining_jobs import Mpirun, Starter, all_of, build, expect_job, find_wheel, need_module, places
from kumiki.machine import mpi


@pytest.fixture(params=mpi.ALL, ids=lambda kind: kind.name)
def wheel(request: pytest.FixtureRequest) -> Mpirun:
    return find_wheel(request.param)


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_job_on_one_host(wheel: Mpirun, starter: Starter, program: str, ranks: int) -> None:
    expect_job(starter.run(*wheel.on_this_host(ranks), program, "alone"), ranks)
    assert starter.nothing_left()


def test_over_hosts(wheel: Mpirun, starter: Starter, program: str, cluster: Hosts) -> None:
    need_module("kumiki-ucx", "libucx-dev")
    command = wheel.over(cluster.namespaces, 2)
    expect_job(starter.run(*command, program, "alone", environment={"KUMIKI_INTERFACE": "eth0"}), 8)
    assert starter.nothing_left()


def test_a_rank_dies(wheel: Mpirun, starter: Starter, program: str) -> None:
    ended = starter.run(*wheel.on_this_host(3), program, "killed")
    assert ended.returncode != 0
    assert places(ended.stdout) == all_of(3)
    assert starter.nothing_left()


def test_beside_mpi(wheel: Mpirun, starter: Starter, tmp_path: Path) -> None:
    program = str(build(tmp_path, wheel.compiler()))
    for when in ("during", "before", "left", "after"):
        expect_job(starter.run(*wheel.on_this_host(3), program, when), 3, when)
