"""Fixtures: a prefix with a native part made of shell scripts, and one without."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_native import LAUNCHER, TOOL, TOPOLOGY, Native
from hypothesis import settings

# A busy machine is not a failure, and the command lines under test need the time more.
settings.register_profile("tool", max_examples=50, deadline=None)
settings.load_profile("tool")


@pytest.fixture(scope="session")
def matplotlib_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which matplotlib keeps its list of fonts: creating it again in every test would take most of the
    time.
    """
    return tmp_path_factory.mktemp("matplotlib")


@pytest.fixture
def bare(tmp_path: Path, matplotlib_folder: Path) -> Iterator[Native]:
    """A prefix without a native part, on a machine without MPI or compilers. No test may leave a process from it."""
    tools = tmp_path / "path"
    tools.mkdir()
    for name in ("sleep", "sh"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    environment = {
        "PATH": str(tools),
        "HOME": str(tmp_path),
        "MPLCONFIGDIR": str(matplotlib_folder),
        "PYTHONPATH": str(TOOL),
        "KUMIKI_PREFIX": str(tmp_path),
        "COLUMNS": "200",
    }
    prefix = Native(tmp_path, environment)
    yield prefix
    assert prefix.alive() == []


@pytest.fixture
def native(bare: Native) -> Native:
    """A complete native part and one MPI; every program prints a row or two of its suite."""
    bare.command("kumiki-run", LAUNCHER)
    bare.command("kumiki-topology", f"#!/bin/sh\necho '{json.dumps(TOPOLOGY)}'\n")
    bare.mpi("openmpi", "mpirun (Open MPI)")
    bare.program(
        "memory",
        "row memory.copy bound GB/s higher 10.1,10.2,10.0,10.3,10.1,10.2\n"
        "row memory.read bound GB/s higher 20,21,20,20,20,20\n",
    )
    bare.program("thread-barrier", "row thread_barrier.time kumiki us lower 0.1,0.101,0.1,0.1,0.1,0.101\n")
    bare.program("rank-barrier", "row rank_barrier.time kumiki us lower 0.3,0.31,0.3,0.3,0.3,0.31\n")
    bare.program("rank-barrier-openmpi", "row rank_barrier.time openmpi us lower 0.4,0.41,0.4,0.4,0.4,0.41\n")
    bare.program("wait-cpu", "row wait.cpu kumiki % lower 1,1.01,1,1,1,1.01\n")
    bare.program("remote-memory", "row put.latency kumiki us lower 0.16,0.161,0.159,0.16,0.16,0.161\n")
    bare.program("remote-memory-openmpi", "row put.latency openmpi us lower 0.2,0.2,0.2,0.2,0.2,0.2\n")
    bare.program("network", "row network.latency kumiki us lower 6.5,6.4,6.5,6.5,6.5,6.4\n")
    bare.program("network-openmpi", "row network.latency openmpi us lower 9.5,9.4,9.5,9.5,9.5,9.4\n")
    bare.program("message", "row message.latency kumiki us lower 0.2,0.19,0.2,0.2,0.2,0.19\n")
    bare.program("message-openmpi", "row message.latency openmpi us lower 0.4,0.41,0.4,0.4,0.4,0.41\n")
    bare.program("fragment", "row fragment.bandwidth kumiki GB/s higher 9.1,9.2,9.1,9.1,9.1,9.2\n")
    bare.program("shared", "row shared_barrier.time kumiki us lower 0.2,0.21,0.2,0.2,0.2,0.21\n")
    bare.program("routines", "row routine.bandwidth kumiki GB/s higher 9.1,9.2,9.1,9.1,9.1,9.2\n")
    bare.program("routines-openmpi", "row routine.bandwidth openmpi GB/s higher 4.1,4.2,4.1,4.1,4.1,4.2\n")
    bare.program("streams", "row $of.bound bound Mop/s higher 90,91,90,90,91,90 ', \"validated\": true'\n")
    bare.program("openmp-overhead", "row openmp.overhead kumiki us lower 0.6,0.61,0.6,0.6,0.6,0.61\n")
    for program in ("mandelbrot", "queens", "rows", "wavefront"):
        bare.program(f"openmp-{program}", "row openmp.time kumiki s lower 0.02,0.021,0.02,0.02,0.02,0.021\n")
    stencils = ("laplace", "himeno", "diffusion", "laplace-sor", "cavity")
    for suite in (*stencils, "matmul", "lu", "radix-sort", "cg", "pi", "is"):
        metric = suite.replace("-", "_")
        rows = f"row {metric}.time IMPL s lower 0.5,0.51,0.5,0.5,0.51,0.5 ', \"validated\": true'\n"
        bare.program(suite, rows.replace("IMPL", "kumiki"))
        bare.program(f"{suite}-openmpi", "form=mpi\n" + rows.replace("IMPL", "openmpi"))
    return bare
