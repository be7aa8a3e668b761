"""Where the pages of OpenMP programs over several processes are: what travels, counted by `kumiki run --explain`."""

from __future__ import annotations

from pathlib import Path

import pytest
from launching import Launcher
from test_run_explain import COPIES, explain
from test_run_openmp import compiled

ROUNDS = 20
PROGRAM = r"""
#include <stdio.h>
double field[128][1024]; /* 1 MiB; main initializes it, and each thread then has a half */
int main(void) {
    double sum = 0;
    for (int i = 0; i < 128; i++) for (int j = 0; j < 1024; j++) field[i][j] = i;
    for (int round = 0; round < ROUNDS; round++)
        #pragma omp parallel for schedule(SCHEDULE)
        for (int i = 0; i < 128; i++) for (int j = 0; j < 1024; j++) field[i][j] += 1;
    for (int i = 0; i < 128; i++) sum += field[i][1023];
    printf("%.0f\n", sum);
    return 0;
}
"""


def fetched(folder: Path, program: str, *options: str) -> int:
    """Pages of variables and heap that a rank has fetched, in a run with these options."""
    folder.mkdir()
    said = explain(folder, "-n", "2", "-t", "1", *options, "--openmp", program, settings=COPIES)
    assert (said.code, said.output) == (0, f"{128 * 127 // 2 + 128 * ROUNDS}\n")
    return sum(each["fetches"] for each in said.figures["subjects"] if each["use"] != "stack")


@pytest.mark.parametrize("schedule", ["static", "dynamic, 64"])
def test_pages_that_are_where_they_are_used_do_not_travel(launcher: Launcher, tmp_path: Path, schedule: str) -> None:
    if not (Path(launcher.path).resolve().parent.parent / "lib" / "libkumiki-openmp-ranks.so").exists():
        pytest.skip("there is no libkumiki-openmp-ranks.so (libzydis-dev)")
    program = compiled(tmp_path, "-g", "-fopenmp", f"-DROUNDS={ROUNDS}", f"-DSCHEDULE={schedule}", source=PROGRAM)
    half = 128  # pages: those of one rank
    moves = fetched(tmp_path / "owner", program, "--homes", "owner")
    if schedule == "static":
        assert moves >= half * ROUNDS  # rank 1 gets its half again in each round
        # The first round, the sum at the end, and the page of whatever else the program has.
        for options in (("--homes", "next"), ("--map", "field=block"), ("--map", "field=[block:128][*:1024]")):
            placed = fetched(tmp_path / options[1].replace("field=", "").replace("*", "all"), program, *options)
            assert placed <= 4 * half, f"{options}: {placed} of {moves}"
    else:  # each rank begins with its own part again, and seldom takes from the other's; on a busy machine more often
        placed = [fetched(tmp_path / f"next{run}", program, "--homes", "next") for run in range(3)]
        assert min(placed) < moves
