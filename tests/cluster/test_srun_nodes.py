"""Slurm of several nodes: jobs that srun starts over them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from clustering import argv, new_cluster
from clustering import lacking as lacking_for_clusters
from joining_jobs import Starter, all_of, expect_job, need_module, places
from kumiki.machine.native import Native
from slurm import Slurm, lacking, new_slurm, nodes_of

NODES = 2
SRUN = ("srun", "--quiet", f"--nodes={NODES}", "--overcommit")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    for reason in (lacking(), lacking_for_clusters()):
        if reason is not None:
            pytest.skip(reason)
    with (
        new_cluster(NODES) as cluster,
        new_slurm(tmp_path_factory.mktemp("slurm"), nodes_of(cluster.cluster)) as slurm,
    ):
        yield slurm
        assert slurm.is_ready(), slurm.log()  # no job is left


@pytest.fixture(params=["pmi2", "pmix"])
def kind(request: pytest.FixtureRequest, slurm: Slurm) -> str:
    name = str(request.param)
    if name not in slurm.kinds_of_mpi():
        pytest.skip(f"this Slurm has no --mpi={name}")
    need_module("kumiki-ucx", "libucx-dev")
    if name == "pmix":
        need_module("kumiki-pmix", "libpmix-dev")
    return name


def test_a_job_over_nodes(slurm: Slurm, starter: Starter, program: str, kind: str) -> None:
    command = slurm.command(*SRUN, f"--mpi={kind}", "-n", "4", program, "alone")
    ended = starter.run(*command, environment=slurm.environment)
    expect_job(ended, 4, slurm.log())
    assert starter.nothing_left()


def test_a_rank_of_another_node_dies(slurm: Slurm, starter: Starter, program: str, kind: str) -> None:
    command = slurm.command(*SRUN, "--kill-on-bad-exit=1", f"--mpi={kind}", "-n", "2", program, "killed")
    ended = starter.run(*command, environment=slurm.environment)
    assert ended.returncode != 0
    assert places(ended.stdout) == all_of(2)
    assert starter.nothing_left()


def test_an_evaluation_in_an_allocation(slurm: Slurm, starter: Starter, tmp_path: Path) -> None:
    native = Native.installed()
    if not native.program("remote-shell").exists():
        pytest.skip("the native part is not installed")
    need_module("kumiki-ucx", "libucx-dev")
    wanted = argv("evaluate", "--suite", "rank-barrier", "--quick", "--output", str(tmp_path / "out"))
    environment = {
        **slurm.environment,
        "KUMIKI_PREFIX": str(native.prefix),
        # MPICH would send this machine's name to the other node, where it means nothing in a namespace.
        "KUMIKI_INTERFACE": "eth0",
        # Here daemons of Open MPI that are ended early leave their folders.
        "TMPDIR": str(tmp_path),
    }
    ended = starter.run(*slurm.command("salloc", "--quiet", f"--nodes={NODES}", *wanted), environment=environment)
    assert ended.returncode == 0, ended.stderr + slurm.log()
    content = json.loads((tmp_path / "out" / "results.json").read_text())
    assert content["environment"]["cluster"]["names"] == ["node0", "node1"]
    times = [row for row in content["rows"] if row["metric"] == "rank_barrier.time" and row["median"] is not None]
    assert "kumiki" in {row["implementation"] for row in times}
    assert all(row["parameters"]["hosts"] == NODES and row["parameters"]["fabric"] == "network" for row in times)
    assert starter.nothing_left()


OPENMP = r"""
#include <stdio.h>
#include <unistd.h>
int main(void) {
    int sum = 0;
    #pragma omp parallel reduction(+ : sum)
    {
        char name[64];
        gethostname(name, sizeof name);
        printf("%s\n", name);
        ++sum;
    }
    return sum == 4 ? 0 : 1;
}
"""


def test_an_openmp_program_in_an_allocation(slurm: Slurm, starter: Starter, tmp_path: Path) -> None:
    """`kumiki run --slurm` starts the processes of the program on the nodes of the allocation."""
    native = Native.installed()
    if not native.program("openmp-queens").exists() or shutil.which("gcc") is None:
        pytest.skip("the native part is not installed, or there is no gcc")
    need_module("kumiki-ucx", "libucx-dev")
    (tmp_path / "program.c").write_text(OPENMP)
    program = str(tmp_path / "program")
    subprocess.run(["gcc", "-fopenmp", "-o", program, str(tmp_path / "program.c")], check=True)
    environment = {**slurm.environment, "KUMIKI_PREFIX": str(native.prefix), "KUMIKI_INTERFACE": "eth0"}
    wanted = argv("run", "--slurm", "-n", str(NODES), "-t", "2", "--openmp", program)
    ended = starter.run(*slurm.command("salloc", "--quiet", f"--nodes={NODES}", *wanted), environment=environment)
    assert ended.returncode == 0, ended.stderr + slurm.log()
    assert sorted(ended.stdout.split()) == ["node0", "node0", "node1", "node1"]
    assert starter.nothing_left()
