"""kumiki-run --regions: which hosts run the parallel regions of an OpenMP program."""

from __future__ import annotations

import subprocess
from pathlib import Path

from launching import Launcher
from openmp_runs import compiled, run_over_hosts

# Regions of a microsecond, for half a second; or, if it is to settle, until many in a row have run on the first host
# alone, which a busy machine may put off.
SHORT_REGIONS = r"""
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <unistd.h>
static long counts[4], sum, elsewhere;
int main(int argc, char** argv) {
    const int settles = argc > 1;
    const pid_t own = getpid();
    long rounds = 0, in_a_row = 0;
    for (const double begin = omp_get_wtime(); omp_get_wtime() < begin + (settles ? 20 : 0.5) && in_a_row < 500;) {
        const long before = elsewhere;
        ++rounds;
        #pragma omp parallel
        {
            counts[omp_get_thread_num()] += omp_get_num_threads();
            #pragma omp atomic
            sum++;
            #pragma omp atomic
            elsewhere += getpid() != own;
        }
        in_a_row = settles && elsewhere == before ? in_a_row + 1 : 0;
    }
    for (int i = 0; i < 4; ++i)
        if (counts[i] != 4 * rounds) printf("thread %d counted %ld of %ld\n", i, counts[i], rounds);
    printf("%s; ", sum == 4 * rounds ? "right" : "wrong");
    printf("elsewhere: %s\n", elsewhere == 0 ? "none" : elsewhere == 2 * rounds ? "half" : "some");
}
"""
SETTLED = "kumiki: on all hosts the parallel regions took "


def run(
    launcher: Launcher, remote_shell: str, folder: Path, *options: str, arguments: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    program = compiled(folder, "-fopenmp", source=SHORT_REGIONS)
    result = run_over_hosts(launcher, remote_shell, "one,two", "-t", "2", *options, "--openmp", program, *arguments)
    assert result.returncode == 0, result.stderr
    return result


def test_short_regions_settle_at_the_first_host(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    result = run(launcher, remote_shell, tmp_path, arguments=("settles",))
    assert result.stdout == "right; elsewhere: some\n"
    assert result.stderr.startswith(SETTLED) and "(--regions all keeps them on all)" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_the_user_may_keep_regions_on_all_hosts(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    result = run(launcher, remote_shell, tmp_path, "--regions", "all")
    assert (result.stdout, result.stderr) == ("right; elsewhere: half\n", "")


def test_the_user_may_keep_regions_on_the_first_host(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    result = run(launcher, remote_shell, tmp_path, "--regions", "first")
    assert (result.stdout, result.stderr) == ("right; elsewhere: none\n", "")


def test_an_unknown_choice_is_refused(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp", source=SHORT_REGIONS)
    result = run_over_hosts(launcher, remote_shell, "one,two", "--regions", "some", "--openmp", program)
    assert result.returncode != 0
    assert "--regions" in result.stderr and "adaptive, all, first or alternating" in result.stderr


# Every thread keeps a variable of its own, or a file, from the first region on.
TIED = r"""
#include <omp.h>
#include <stdio.h>
#include <string.h>
static int own;
#pragma omp threadprivate(own)
static FILE* files[4];
static long wrong;
int main(int argc, char** argv) {
    const int has_files = strcmp(argv[1], "file") == 0;
    #pragma omp parallel
    {
        if (has_files) files[omp_get_thread_num()] = tmpfile();
        else own = 1000 + omp_get_thread_num();
    }
    for (const double begin = omp_get_wtime(); omp_get_wtime() < begin + 1;) {
        #pragma omp parallel reduction(+ : wrong)
        {
            if (has_files) wrong += fseek(files[omp_get_thread_num()], 0, SEEK_END) != 0;
            else wrong += own != 1000 + omp_get_thread_num();
        }
    }
    printf("wrong: %ld\n", wrong);
}
"""


def test_threads_that_are_tied_to_their_hosts_stay(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp", source=TIED)
    for what in ("variable", "file"):
        result = run_over_hosts(launcher, remote_shell, "one,two", "-t", "2", "--openmp", program, what)
        assert (result.returncode, result.stdout, result.stderr) == (0, "wrong: 0\n", ""), what
