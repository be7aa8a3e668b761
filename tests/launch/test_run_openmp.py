"""kumiki-run --openmp: the program runs on Kumiki's OpenMP runtime, or a sentence says why it cannot."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from launching import ENVIRONMENT, Launcher, lines
from openmp_runs import COPIES, compiled, run_over_hosts, run_with_copies


def test_a_program_runs_on_the_runtime_with_its_threads(launcher: Launcher, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp")
    for threads in ("1", "2", "3"):
        assert lines(launcher.run("-t", threads, "--openmp", program)) == [f"5050 {threads} libkumiki-openmp.so "]


def test_arguments_and_the_exit_code_are_the_programs_own(launcher: Launcher, tmp_path: Path) -> None:
    result = launcher.run("-t", "2", "--openmp", compiled(tmp_path, "-fopenmp"), "--label")
    assert (result.returncode, result.stdout) == (5, "5050 2 libkumiki-openmp.so --label\n")


def test_without_the_option_it_is_libgomp(launcher: Launcher, tmp_path: Path) -> None:
    assert "libgomp" in launcher.run("-t", "2", compiled(tmp_path, "-fopenmp")).stdout


def test_a_script_may_start_the_program(launcher: Launcher, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\nexec {compiled(tmp_path, '-fopenmp')}\n")
    script.chmod(0o755)
    assert lines(launcher.run("-t", "2", "--openmp", str(script))) == ["5050 2 libkumiki-openmp.so "]


def check_refused(result: subprocess.CompletedProcess[str], code: int, part: str) -> None:
    assert (result.returncode, result.stdout) == (code, "")
    assert part in result.stderr
    assert len(result.stderr.splitlines()) == 1


PLAIN = "int main(void) { return 0; }"


@pytest.mark.parametrize(
    ("options", "source", "part"),
    [
        ((), PLAIN, "it does not use OpenMP"),
        (("-static",), PLAIN, "it is linked statically"),
        (
            ("-fopenmp", "-static"),
            "int main(void) {\n#pragma omp parallel\n{}\nreturn 0; }",
            "linked into it statically",
        ),
    ],
    ids=["no OpenMP", "static", "static OpenMP"],
)
def test_a_program_that_cannot_use_the_runtime_is_refused(
    launcher: Launcher, tmp_path: Path, options: tuple[str, ...], source: str, part: str
) -> None:
    check_refused(launcher.run("--openmp", compiled(tmp_path, *options, source=source)), ENVIRONMENT, part)


def test_a_program_for_another_processor_is_refused(launcher: Launcher, tmp_path: Path) -> None:
    program = Path(compiled(tmp_path, "-fopenmp"))
    content = bytearray(program.read_bytes())
    content[18:20] = (2).to_bytes(2, "little")  # the machine in the ELF header: SPARC
    program.write_bytes(content)
    check_refused(launcher.run("--openmp", str(program)), ENVIRONMENT, "another kind of processor")


def test_ranks_are_one_process_with_the_threads_of_all(launcher: Launcher, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp")
    assert lines(launcher.run("-n", "2", "-t", "3", "--openmp", program)) == ["5050 6 libkumiki-openmp.so "]
    assert lines(launcher.run("-n", "2", "-t", "4,2", "--openmp", program)) == ["5050 6 libkumiki-openmp.so "]


PROCESSORS = r"""
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
int main(void) {
    #pragma omp parallel
    #pragma omp for ordered schedule(static, 1)
    for (int thread = 0; thread < omp_get_num_threads(); thread++) {
        cpu_set_t usable;
        sched_getaffinity(0, sizeof usable, &usable);
        #pragma omp ordered
        {
            for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
                if (CPU_ISSET(cpu, &usable)) printf("%d ", cpu);
            printf("\n");
        }
    }
    return 0;
}
"""


def test_threads_stay_on_the_processors_of_their_rank(launcher: Launcher, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp", source=PROCESSORS)
    ranks = ("-n", "2", "-t", "2,1", "--bind", "shared")
    plain = launcher.run(*ranks, "--verbose", "true").stderr
    usable = [" ".join(expanded(line.split("may use ")[1])) for line in plain.splitlines() if "may use" in line]
    assert len(usable) == 2
    found = [line.strip() for line in lines(launcher.run(*ranks, "--openmp", program))]
    assert found == [usable[0], usable[0], usable[1]]
    own = launcher.run(*ranks, "--openmp", program, environment={"OMP_PROC_BIND": "false"})
    assert len({line.strip() for line in lines(own)}) == 1  # the user wants no binding


def expanded(ranges: str) -> list[str]:
    """0-2,5 as the numbers 0, 1, 2 and 5."""
    ends = [part.split("-") for part in ranges.split(",")]
    return [str(number) for end in ends for number in range(int(end[0]), int(end[-1]) + 1)]


PROCESSES = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    int processes[16], others = 0, sum = 0;
    #pragma omp parallel reduction(+ : sum)
    {
        processes[omp_get_thread_num()] = getpid();
        sum += omp_get_thread_num();
    }
    for (int thread = 0; thread < omp_get_max_threads(); thread++) others += processes[thread] != getpid();
    printf("%d of %d elsewhere, sum %d\n", others, omp_get_max_threads(), sum);
    return system("env | grep -c KUMIKI_RANK") == 0 ? 1 : 0;
}
"""


def test_ranks_with_copies_are_processes(launcher: Launcher, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp", source=PROCESSES)
    for shape, elsewhere, threads in ((("-n", "2", "-t", "1"), 1, 2), (("-n", "3", "-t", "1,2,1"), 3, 4)):
        result = run_with_copies(launcher, program, *shape)
        total = threads * (threads - 1) // 2
        # Programs that it starts do not take themselves for ranks.
        assert lines(result) == ["0", f"{elsewhere} of {threads} elsewhere, sum {total}"]


def test_the_exit_code_of_a_program_in_several_processes_is_its_own(launcher: Launcher, tmp_path: Path) -> None:
    result = run_with_copies(launcher, compiled(tmp_path, "-fopenmp"), "-n", "2", "-t", "1")
    assert lines(result) == ["5050 2 libkumiki-openmp-ranks.so "]
    program = compiled(
        tmp_path, "-fopenmp", source="#include <stdlib.h>\nint main(void) {\n#pragma omp parallel\n{}\nexit(7); }"
    )
    assert run_with_copies(launcher, program, "-n", "2").returncode == 7


def test_a_host_is_one_process(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp", source=PROCESSES)
    for hosts, ranks, elsewhere, threads in (
        ("a,b", ("-n", "2", "-t", "1"), 1, 2),
        ("a,b", ("-n", "4", "-t", "1"), 2, 4),
        ("a:1,b:2", ("-t", "2,1,1"), 2, 4),
    ):
        result = run_over_hosts(launcher, remote_shell, hosts, *ranks, "--openmp", program)
        assert f"{elsewhere} of {threads} elsewhere, sum {threads * (threads - 1) // 2}" in lines(result)
    alone = run_over_hosts(
        launcher, remote_shell, "a", "-n", "3", "-t", "1", "--openmp", compiled(tmp_path, "-fopenmp")
    )
    assert lines(alone) == ["5050 3 libkumiki-openmp.so "]


ENDS = r"""
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char** words) {
    int sum = 0;
    #pragma omp parallel reduction(+ : sum)
    {
        sum += omp_get_num_threads();
        if (omp_get_thread_num() == atoi(words[2])) {
            if (strcmp(words[1], "killed") == 0) raise(SIGKILL);
            if (strcmp(words[1], "leaves") == 0) exit(9);
        }
        #pragma omp barrier
    }
    if (strcmp(words[1], "aborts") == 0) abort();
    exit(sum);
}
"""


@pytest.mark.parametrize(
    ("how", "rank", "code", "part"),
    [
        ("killed", 0, 137, "rank 0 of 2 on host a"),
        ("killed", 1, 137, "rank 1 of 2 on host b"),
        ("leaves", 0, 9, "rank 0 of 2 on host a"),
        ("leaves", 1, 9, "rank 1 of 2 on host b"),
        ("aborts", 0, 134, "rank 0 of 2 on host a"),
        ("ends", 0, 4, "rank 0 of 2 on host a"),
    ],
)
def test_a_program_over_hosts_ends_as_elsewhere(
    launcher: Launcher, remote_shell: str, tmp_path: Path, how: str, rank: int, code: int, part: str
) -> None:
    program = compiled(tmp_path, "-fopenmp", source=ENDS)
    result = run_over_hosts(launcher, remote_shell, "a,b", "-t", "1", "--openmp", program, how, str(rank))
    assert (result.returncode, result.stdout) == (code, "")
    assert part in result.stderr
    assert launcher.nothing_left()


def test_a_rank_that_dies_ends_the_job(launcher: Launcher, tmp_path: Path) -> None:
    source = (
        "#include <omp.h>\n#include <signal.h>\nint main(void) {\n#pragma omp parallel\n"
        "if (omp_get_thread_num() == 1) raise(SIGKILL);\nreturn 0; }"
    )
    result = run_with_copies(launcher, compiled(tmp_path, "-fopenmp", source=source), "-n", "2", "-t", "1")
    assert result.returncode == 128 + 9
    assert "rank 1 of 2" in result.stderr
    assert launcher.nothing_left()


def test_a_script_cannot_be_several_processes(launcher: Launcher, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    check_refused(run_with_copies(launcher, str(script), "-n", "2"), ENVIRONMENT, "perhaps a script")


def test_a_program_that_is_missing_is_no_script(launcher: Launcher, tmp_path: Path) -> None:
    check_refused(run_with_copies(launcher, str(tmp_path / "one"), "-n", "2"), ENVIRONMENT, "there is no such file")
    check_refused(run_with_copies(launcher, str(tmp_path), "-n", "2"), ENVIRONMENT, "it is a folder")


def test_a_program_that_does_not_exist_is_named(launcher: Launcher) -> None:
    result = launcher.run("--openmp", "./no-such-program")
    assert result.returncode == ENVIRONMENT
    assert "no-such-program" in result.stderr


MAPPED = r"""
#include <omp.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    int threads = 0, runtimes = 0, own = 0; /* the code of each runtime is mapped once */
    #pragma omp parallel reduction(+ : threads)
    threads += omp_get_num_threads() > 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    for (char line[4096]; fgets(line, sizeof line, maps);)
        if (strstr(line, " r-xp ") && (strstr(line, "omp.so") || strstr(line, "openmp"))) {
            runtimes++;
            own += strstr(line, "kumiki-openmp") != 0;
        }
    printf("%d %d %d\n", threads, runtimes, own);
    return 0;
}
"""


def test_a_program_of_clang_runs_on_the_runtime_without_libomp(launcher: Launcher, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp", source=MAPPED, compiler="clang")
    for threads in ("1", "3"):
        assert lines(launcher.run("-t", threads, "--openmp", program)) == [f"{threads} 1 1"]
    copies = launcher.run("-n", "2", "-t", "1", "--openmp", program, environment=COPIES)
    assert lines(copies) == ["2 1 1"]


def test_a_function_of_libomp_that_is_missing_is_named(launcher: Launcher, tmp_path: Path) -> None:
    source = "void kmp_get_affinity(void); int main(void) {\n#pragma omp parallel\nkmp_get_affinity(); return 0; }"
    program = compiled(tmp_path, "-fopenmp", source=source, compiler="clang")
    result = launcher.run("-t", "1", "--openmp", program)
    assert result.returncode == ENVIRONMENT
    assert "kmp_get_affinity of LLVM's OpenMP runtime" in result.stderr.splitlines()[0]


def test_the_affinity_of_threads_is_shown_when_it_changes(launcher: Launcher, tmp_path: Path) -> None:
    region = "#pragma omp parallel num_threads({})\n{{}}\n"
    source = "int main(void) {\n" + "".join(region.format(threads) for threads in (2, 2, 3)) + "return 0; }"
    result = launcher.run(
        "--openmp",
        compiled(tmp_path, "-fopenmp", source=source),
        environment={"OMP_DISPLAY_AFFINITY": "true", "OMP_AFFINITY_FORMAT": "%L %n/%N"},
    )
    assert sorted(result.stderr.splitlines()) == ["1 0/2", "1 0/3", "1 1/2", "1 1/3", "1 2/3"]


VARIABLES = r"""
#include <omp.h>
#include <stdio.h>
double field[100][200];
static char small[3000], same[10000];
static const char fixed[20000] = "x";
static _Thread_local char own[20000];
char* other(void);
int main(void) {
    double sum = 0;
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += field[i][i] += i;
    printf("%.0f %d\n", sum, small[0] + fixed[1] + own[0] + same[0] + other()[0]);
    return 0;
}
"""


def with_variables(folder: Path, *options: str) -> str:
    other = folder / "other.c"
    other.write_text("static char same[10000]; char* other(void) { return same; }")
    return compiled(folder, "-fopenmp", str(other), *options, source=VARIABLES)


@pytest.mark.parametrize(
    ("option", "value", "part"),
    [
        ("--map", "fields=block", "has no variable fields; its longest ones are field, "),
        ("--map", "main=block", "has no variable main"),
        ("--map", "small=block", "small has 3000 bytes, and no whole page"),
        ("--map", "fixed=block", "fixed is constant"),
        ("--map", "own=block", "every thread has a own of its own"),
        ("--map", "same=block", "2 variables same,"),
        ("--map", "field=rank:2", "the program runs as 2 processes, numbered from 0"),
        ("--map", "field=[block:99][*:200]", "field has 160000 bytes, which are not 19800 elements"),
        ("--schedule", "affinity:field[99]", "field has 160000 bytes, which are not 99 rows"),
        ("--schedule", "affinity:nowhere[99]", "has no variable nowhere"),
    ],
)
def test_a_variable_that_cannot_be_placed_is_named(
    launcher: Launcher, tmp_path: Path, option: str, value: str, part: str
) -> None:
    program = with_variables(tmp_path)
    result = run_with_copies(launcher, program, "-n", "2", "-t", "1", option, value)
    check_refused(result, ENVIRONMENT, part)
    assert f"{option} {value} is not usable" in result.stderr


def test_a_stripped_program_has_no_variables(launcher: Launcher, tmp_path: Path) -> None:
    program = with_variables(tmp_path, "-s")
    check_refused(launcher.run("--openmp", "--map", "field=block", program), ENVIRONMENT, "has no symbols")
    # It runs as ever without a map.
    assert lines(launcher.run("-t", "2", "--openmp", program)) == ["4950 0"]


def test_variables_are_placed_by_name(launcher: Launcher, tmp_path: Path) -> None:
    program = with_variables(tmp_path)
    for homes in ("block", "cyclic:8K", "first", "rank:1", "[block:100][*:200]"):
        result = run_with_copies(launcher, program, "-n", "2", "-t", "1", "--map", f"field={homes}")
        assert lines(result) == ["4950 0"], homes
    again = run_with_copies(launcher, program, "-n", "2", "--map", "field=block", "--map", "field=first")
    check_refused(again, ENVIRONMENT, "field has homes already")
