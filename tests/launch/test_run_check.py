"""KUMIKI_SHARED_CHECK: programs with races, and without."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from launching import built_program, find_command

NAME = "kumiki-test-shared-races"
NO_RACES = "No races between ranks"
RACES = 66


@dataclass
class Checked:
    """How a run ended, and what was said about it."""

    code: int
    output: str
    errors: str

    @property
    def races(self) -> list[str]:
        return [line.removeprefix("kumiki: ") for line in self.errors.splitlines() if " Change: " in line]


def check(folder: Path, *words: str, settings: dict[str, str] | None = None, how: str = "1") -> Checked:
    prefix = Path(find_command("kumiki-run")).parents[1]
    temporary = folder / "temporary"
    temporary.mkdir()
    environment = {
        **os.environ,
        "KUMIKI_PREFIX": str(prefix),
        "TMPDIR": str(temporary),
        "KUMIKI_SHARED_CHECK": how,
        **(settings or {}),
    }
    ended = subprocess.run(
        [sys.executable, "-m", "kumiki", "run", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert list(temporary.iterdir()) == [], "the records are still there"
    return Checked(ended.returncode, ended.stdout, ended.stderr)


def has_lines() -> bool:
    return (Path(find_command("kumiki-run")).parents[1] / "libexec" / "kumiki" / "kumiki-lines").exists()


needs_lines = pytest.mark.skipif("not has_lines()", reason="kumiki-lines is not built (libdw-dev)")


def line_with(text: str) -> str:
    """`FILE:LINE` of the test program's line with this remark."""
    source = Path(__file__).with_name("shared_races.cpp")
    number = next(i for i, line in enumerate(source.read_text().splitlines(), 1) if line.endswith(text))
    return f"{source.name}:{number}"


@needs_lines
def test_two_ranks_at_two_lines(tmp_path: Path) -> None:
    said = check(tmp_path, "-n", "2", built_program(NAME), "two")
    assert said.code == 0 and said.output == "done\n", said.errors
    (race,) = said.races
    assert race.startswith(f"array of {line_with('// the array with races')}, byte 160: ")
    assert f"rank 0 wrote it at {line_with('// the line of rank 0')}" in race
    assert f"rank 1 wrote it at {line_with('// the line of rank 1')}" in race
    assert "in 1 interval" in race and "shared_lock" in race and NO_RACES not in said.errors


@needs_lines
def test_a_line_that_only_wrote_to_the_page_is_said_to_be_one(tmp_path: Path) -> None:
    said = check(tmp_path, "-n", "2", built_program(NAME), "page")
    (race,) = said.races
    assert f"rank 0 first wrote to this page at {line_with('// the first line of rank 0')}" in race
    assert f"rank 1 first wrote to this page at {line_with('// the first line of rank 1')}" in race


@needs_lines
def test_all_ranks_at_one_line_are_one_race(tmp_path: Path) -> None:
    said = check(tmp_path, "-n", "3", built_program(NAME), "one")
    (race,) = said.races
    assert "ranks 0, 1 and 2" in race and line_with("// the line of one") in race and "in 5 intervals" in race


@pytest.mark.parametrize("way", ["good", "locked"])
def test_programs_without_races(tmp_path: Path, way: str) -> None:
    said = check(tmp_path, "-n", "3", built_program(NAME), way, how="fail")
    assert said.code == 0 and said.races == [] and NO_RACES in said.errors, said.errors


def test_races_may_make_the_run_fail(tmp_path: Path) -> None:
    said = check(tmp_path, "-n", "2", built_program(NAME), "one", how="fail")
    assert said.code == RACES and said.output == "done\n" and said.races


def test_a_program_that_ends_early_keeps_its_code_and_races(tmp_path: Path) -> None:
    said = check(tmp_path, "-n", "2", built_program(NAME), "dies", how="fail")
    assert said.code == 5 and len(said.races) == 1, said.errors
    assert "ended early" in said.errors


def test_between_hosts(tmp_path: Path) -> None:
    shell = Path(__file__).parents[1] / "bench" / "same-machine"
    said = check(tmp_path, "--remote-shell", str(shell), "--hosts", "h1,h2", built_program(NAME), "two")
    assert said.code == 0 and len(said.races) == 1, said.errors


def test_without_the_tool_the_ranks_say_that_there_are_races() -> None:
    environment = {**os.environ, "KUMIKI_SHARED_CHECK": "1"}
    for way, word in (("two", "has found races"), ("good", "has found no races")):
        ended = subprocess.run(
            [find_command("kumiki-run"), "-n", "2", built_program(NAME), way],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ended.returncode == 0 and word in ended.stderr


def test_programs_without_shared_memory(tmp_path: Path) -> None:
    said = check(tmp_path, "-n", "2", "true")
    assert said.code == 0 and "nothing has been compared" in said.errors


OPENMP = r"""
#include <stdio.h>
#include <stdlib.h>
enum { n = 40000 };
double grid[n];
long total, guarded;
int main(void) {
    long local = 0, reduced = 0;
    long *heap = malloc(n * sizeof *heap); /* the line of the heap */
    for (int step = 0; step < 3; step++) {
        #pragma omp parallel for reduction(+ : reduced)
        for (int i = 0; i < n; i++) { heap[i] = i + step; grid[i] = i * step; reduced += i; }
    }
    #pragma omp parallel for
    for (int i = 0; i < 64; i++) {
        #pragma omp critical
        guarded += i;
    }
    if (RACES) {
        volatile long *sum = &total, *inner = &local, *shared = heap + 5000;
        #pragma omp parallel for
        for (int i = 0; i < 64; i++) *sum += i + 1; /* the race of the variable */
        #pragma omp parallel for
        for (int i = 0; i < 64; i++) *inner += i + 1; /* the race of the stack */
        #pragma omp parallel for
        for (int i = 0; i < 64; i++) *shared += i + 1; /* the race of the heap */
    }
    printf("%ld\n", guarded);
    return reduced == 0 || grid[5] < 0;
}
"""


def openmp_program(folder: Path, races: bool) -> str:
    libraries = Path(find_command("kumiki-run")).parents[1] / "lib"
    if not (libraries / "libkumiki-openmp-ranks.so").exists():
        pytest.skip("there is no libkumiki-openmp-ranks.so (libzydis-dev)")
    source, program = folder / "program.c", folder / "program"
    source.write_text(OPENMP)
    subprocess.run(["gcc", "-O2", "-g", "-fopenmp", f"-DRACES={int(races)}", "-o", program, source], check=True)
    return str(program)


def openmp_line(text: str) -> str:
    return f"program.c:{next(i for i, line in enumerate(OPENMP.splitlines(), 1) if text in line)}"


def test_an_openmp_program_without_races(tmp_path: Path) -> None:
    said = check(tmp_path, "-n", "3", "-t", "1", "--openmp", openmp_program(tmp_path, False))
    assert said.code == 0 and said.output == "2016\n" and said.races == [] and NO_RACES in said.errors, said.errors


@needs_lines
def test_races_of_an_openmp_program(tmp_path: Path) -> None:
    said = check(tmp_path, "-n", "2", "-t", "1", "--openmp", openmp_program(tmp_path, True))
    assert said.code == 0 and said.output == "2016\n", said.errors
    variable, stack, heap = said.races
    assert variable.startswith("total, ") and openmp_line("the race of the variable") in variable
    assert "reduction" in variable
    assert stack.startswith("stacks of rank 0, ") and "rank 0 wrote it in the parallel region" in stack
    assert f"rank 1 wrote it at {openmp_line('the race of the stack')}" in stack
    assert heap.startswith(f"memory of {openmp_line('the line of the heap')}, ")
    assert openmp_line("the race of the heap") in heap and "bytes 40000" in heap.replace("byte 40000", "bytes 40000")
