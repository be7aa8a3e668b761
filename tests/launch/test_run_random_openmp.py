"""Random OpenMP programs print the same on libgomp, as one process, and as several with a copy of their memory each."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from launching import find_command
from openmp_programs import Program

ROUNDS = int(os.environ.get("TEST_OPENMP_ROUNDS", "2"))  # of PROGRAMS programs each
PROGRAMS = 6
SHAPES = {"one process": "4", "two": "2,2", "three": "1,1,1", "unlike": "2,1,3"}


def output(*command: str) -> str:
    ended = subprocess.run(
        command, env={**os.environ, "OMP_NUM_THREADS": "4"}, capture_output=True, text=True, timeout=60, check=False
    )
    return ended.stdout if ended.returncode == 0 else f"exit code {ended.returncode}: {ended.stderr}"


@pytest.mark.parametrize("first", range(1, ROUNDS * PROGRAMS + 1, PROGRAMS))
def test_random_programs(first: int, remote_shell: str, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    run = str(find_command("kumiki-run"))
    for seed in range(first, first + PROGRAMS):
        source, program = tmp_path / f"{seed}.c", str(tmp_path / str(seed))
        source.write_text(Program(seed).text())
        subprocess.run(["gcc", "-O1", "-fopenmp", "-o", program, str(source)], timeout=60, check=True)
        expected = output(program)
        for name, threads in SHAPES.items():
            hosts = [f"host{number}" for number in range(len(threads.split(",")))]
            where = ["--remote-shell", remote_shell, "--hosts", ",".join(hosts)] if len(hosts) > 1 else []
            for regions in ("all", "alternating") if where else ("all",):
                found = output(run, *where, "-t", threads, "--regions", regions, "--openmp", program)
                assert found == expected, f"seed {seed} as {name}, regions {regions}"
