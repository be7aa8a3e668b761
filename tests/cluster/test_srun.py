"""Jobs that Slurm's srun starts, on a real Slurm of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from joining_jobs import Starter, all_of, build, expect_job, find_mpirun, need_module, places
from kumiki.machine import mpi
from slurm import Slurm, lacking, new_slurm

SRUN = ("srun", "--quiet", "--overcommit")
"""More tasks than processors may start; the messages about the queue are suppressed."""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    if (reason := lacking()) is not None:
        pytest.skip(reason)
    with new_slurm(tmp_path_factory.mktemp("slurm")) as slurm:
        yield slurm


@pytest.fixture(params=["pmi2", "pmix"])
def kind(request: pytest.FixtureRequest, slurm: Slurm) -> str:
    name = str(request.param)
    if name not in slurm.kinds_of_mpi():
        pytest.skip(f"this Slurm has no --mpi={name}")
    if name == "pmix":
        need_module("kumiki-pmix", "libpmix-dev")
    return name


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_job(slurm: Slurm, starter: Starter, program: str, kind: str, ranks: int) -> None:
    command = (*SRUN, f"--mpi={kind}", "-n", str(ranks), program, "alone")
    ended = starter.run(*command, environment=slurm.environment)
    expect_job(ended, ranks, slurm.log())
    assert starter.nothing_left()


def test_with_the_library_of_pmi2(slurm: Slurm, starter: Starter, program: str) -> None:
    """The situation of a process whose MPI library uses this library to communicate with srun."""
    library = "libpmi2.so.0"
    folders = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
    if not any(os.path.exists(f"{folder}/{library}") for folder in folders):
        pytest.skip(f"{library} is not installed: apt install libpmi2-0")
    command = (*SRUN, "--mpi=pmi2", "-n", "2", "env", f"LD_PRELOAD={library}", program, "alone")
    ended = starter.run(*command, environment=slurm.environment)
    expect_job(ended, 2, slurm.log())


@pytest.mark.parametrize("when", ["before", "during", "left", "after"])
def test_beside_open_mpi(slurm: Slurm, starter: Starter, tmp_path: Path, when: str) -> None:
    if "pmix" not in slurm.kinds_of_mpi():
        pytest.skip("this Slurm has no --mpi=pmix")
    program = build(tmp_path, find_mpirun(mpi.OPENMPI).compiler())
    command = (*SRUN, "--mpi=pmix", "-n", "2", str(program), when)
    ended = starter.run(*command, environment=slurm.environment)
    expect_job(ended, 2, slurm.log())


def test_a_rank_dies(slurm: Slurm, starter: Starter, program: str, kind: str) -> None:
    command = (*SRUN, "--kill-on-bad-exit=1", f"--mpi={kind}", "-n", "3", program, "killed")
    ended = starter.run(*command, environment=slurm.environment)
    assert ended.returncode != 0
    assert places(ended.stdout) == all_of(3)
    assert starter.nothing_left()


def test_without_any_pmi(slurm: Slurm, starter: Starter, program: str) -> None:
    ended = starter.run(*SRUN, "--mpi=none", "-n", "2", program, "alone", environment=slurm.environment)
    assert ended.returncode != 0
    assert "use srun --mpi=pmix or --mpi=pmi2" in ended.stderr
