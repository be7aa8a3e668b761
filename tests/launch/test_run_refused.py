"""What an OpenMP program cannot do over several processes: it ends, and a sentence says why and what helps."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from launching import ENVIRONMENT, Launcher, lines
from openmp_runs import COPIES, compiled, run_with_copies

FORKS = "#include <unistd.h>\nint main(void) {\n#pragma omp parallel\n{}\nreturn fork() < 0; }"


@pytest.mark.parametrize(
    ("source", "environment", "part"),
    [(FORKS, {}, "the program uses fork"), (FORKS, {"OMP_CANCELLATION": "true"}, "OMP_CANCELLATION=true")],
    ids=["fork", "cancellation"],
)
def test_what_several_processes_cannot_do_is_refused(
    launcher: Launcher, tmp_path: Path, source: str, environment: dict[str, str], part: str
) -> None:
    program = compiled(tmp_path, "-fopenmp", source=source)
    result = run_with_copies(launcher, program, "-n", "2", "-t", "1", **environment)
    assert result.returncode == ENVIRONMENT
    assert part in result.stderr
    assert launcher.nothing_left()


MAPS = """
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    int file = memfd_create("numbers", 0);
    if (ftruncate(file, 100000) != 0) return 1;
    int *one = mmap(0, 100000, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
#pragma omp parallel for
    for (int i = 0; i < 25000; i++) one[i] = i;
}
"""


def test_memory_that_only_another_process_has_is_explained(launcher: Launcher, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp", source=MAPS)
    result = run_with_copies(launcher, program, "-n", "2", "-t", "1")
    assert result.returncode == 128 + 11
    assert "kumiki: rank 1 has no memory at 0x" in result.stderr and "mmap()" in result.stderr


# Both processes have memory of their own at one address, as that of a library may be, and a pointer in it.
PRIVATE_POINTER = """
#include <sys/mman.h>
int **place = (int **)0x100000000, value;
int main(void) {
#pragma omp parallel
    mmap(place, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    *place = &value;
#pragma omp parallel
    **place = 1;
}
"""


def test_a_pointer_that_only_another_process_has_is_explained(launcher: Launcher, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp", "-D_GNU_SOURCE", source=PRIVATE_POINTER)
    result = run_with_copies(launcher, program, "-n", "2", "-t", "1")
    assert result.returncode == 128 + 11
    assert "kumiki: rank 1 has used a null pointer" in result.stderr and "from a library" in result.stderr


# A thread of the first process enters a lock, and one of the second leaves it.
FOREIGN_LOCK = """
#include <omp.h>
omp_lock_t lock;
int main(void) {
    omp_init_lock(&lock);
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) omp_set_lock(&lock);
#pragma omp barrier
        if (omp_get_thread_num() == 1) omp_unset_lock(&lock);
    }
}
"""


def test_a_lock_that_another_thread_leaves_is_refused(launcher: Launcher, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp", source=FOREIGN_LOCK)
    result = run_with_copies(launcher, program, "-n", "2", "-t", "1")
    assert result.returncode == ENVIRONMENT
    assert "rank 1: the program uses a lock that one thread enters and another one leaves" in result.stderr


def library(folder: Path, name: str, source: str, *options: str) -> str:
    (folder / f"{name}.c").write_text(source)
    path = folder / f"{name}.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", path, folder / f"{name}.c", *options], check=True)
    return str(path)


# A library that does not belong to the program has memory of its own, which another process uses in it.
LIBRARY_KEEPS = """
#define _GNU_SOURCE
#include <sys/mman.h>
int *keep(void) {
    int *kept = mmap(0, 1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *kept = 7;
    return kept;
}
int look(int *kept) { return *kept; }
"""
OTHERS_LOOK = """
int *keep(void);
int look(int *kept);
int main(void) {
    int sum = 0, *kept = keep();
#pragma omp parallel reduction(+ : sum)
    sum += look(kept);
    return sum;
}
"""


def test_the_library_that_uses_memory_of_another_process_is_named(launcher: Launcher, tmp_path: Path) -> None:
    keeps = library(tmp_path, "libkeeps", LIBRARY_KEEPS)
    program = compiled(tmp_path, "-fopenmp", keeps, f"-Wl,-rpath,{tmp_path}", source=OTHERS_LOOK)
    result = run_with_copies(launcher, program, "-n", "2", "-t", "1")
    assert result.returncode == 128 + 11
    assert "has used in libkeeps;" in result.stderr and "with --libraries libkeeps;" in result.stderr
    named = run_with_copies(launcher, program, "-n", "2", "-t", "1", "--libraries", "libkeeps")
    assert named.returncode == 14, named.stderr


PROGRAM_LOOKS = """
int *keep(void);
int main(void) {
    int sum = 0, *kept = keep();
#pragma omp parallel reduction(+ : sum)
    sum += *kept;
    return sum;
}
"""


def test_all_libraries_can_be_named_at_once(launcher: Launcher, tmp_path: Path) -> None:
    keeps = library(tmp_path, "libkeeps", LIBRARY_KEEPS)
    program = compiled(tmp_path, "-fopenmp", keeps, f"-Wl,-rpath,{tmp_path}", source=PROGRAM_LOOKS)
    result = run_with_copies(launcher, program, "-n", "2", "-t", "1")
    assert result.returncode == 128 + 11
    assert "which the program has used; if" in result.stderr and "(--libraries all);" in result.stderr
    named = run_with_copies(launcher, program, "-n", "2", "-t", "1", "--libraries", "all")
    assert named.returncode == 14, named.stderr


# A library that does not belong to the program enters and leaves its mutex.
LIBRARY_LOCKS = """
#include <pthread.h>
void take(pthread_mutex_t *mutex) { pthread_mutex_lock(mutex); }
void give(pthread_mutex_t *mutex) { pthread_mutex_unlock(mutex); }
"""
PROGRAM_LOCKS = """
#include <pthread.h>
#include <stdio.h>
void take(pthread_mutex_t *mutex);
void give(pthread_mutex_t *mutex);
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int turns;
int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) {
        if (i % 2 == 0) take(&mutex);
        else pthread_mutex_lock(&mutex);
        ++turns;
        if (i % 3 == 0) give(&mutex);
        else pthread_mutex_unlock(&mutex);
    }
    printf("%d\\n", turns);
}
"""


def test_a_mutex_of_the_program_is_one_for_libraries_too(launcher: Launcher, tmp_path: Path) -> None:
    locks = library(tmp_path, "liblocks", LIBRARY_LOCKS)
    program = compiled(tmp_path, "-fopenmp", locks, f"-Wl,-rpath,{tmp_path}", source=PROGRAM_LOCKS)
    assert lines(run_with_copies(launcher, program, "-n", "2", "-t", "1")) == ["1000"]


PLUGIN = """
int all(void) {
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += 5;
    return sum;
}
int one(void) { return 5; }
"""
LOADS_A_PLUGIN = """
#include <dlfcn.h>
int main(int count, char **words) {
    void *plugin = dlopen(words[1], RTLD_NOW);
    int (*function)(void) = (int (*)(void))dlsym(plugin, words[2]), sum = 0;
    if (words[2][0] == 'a') return function();
#pragma omp parallel reduction(+ : sum)
    sum += function();
    return sum;
}
"""


@pytest.mark.parametrize(
    ("function", "code", "part"),
    [
        ("all", ENVIRONMENT, "plugin.so has a parallel region, but it was loaded (dlopen) after the program had begun"),
        ("one", 128 + 11, "kumiki: rank 1 has no code at 0x"),
    ],
)
def test_a_library_that_is_loaded_later_is_refused_and_one_that_is_there_is_used(
    launcher: Launcher, tmp_path: Path, function: str, code: int, part: str
) -> None:
    plugin = library(tmp_path, "plugin", PLUGIN, "-fopenmp")
    program = compiled(tmp_path, "-fopenmp", "-ldl", source=LOADS_A_PLUGIN)
    words = ("-n", "2", "-t", "1", "--openmp", program, plugin, function)
    late = launcher.run(*words, environment=COPIES)
    assert (late.returncode, part in late.stderr) == (code, True), late.stderr
    assert "LD_PRELOAD" in late.stderr
    there = launcher.run(*words, environment=COPIES | {"LD_PRELOAD": plugin})
    assert there.returncode == 10, there.stderr


ALLOCATES = """
#include <stddef.h>
static char memory[1 << 20];
static size_t used;
void *malloc(size_t bytes) {
    char *got = memory + used;
    used += (bytes + 63) / 64 * 64;
    return got;
}
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void *realloc(void *before, size_t bytes) {
    char *got = malloc(bytes);
    for (size_t i = 0; before && i < bytes; i++) got[i] = ((char *)before)[i];
    return got;
}
void free(void *got) { (void)got; }
int main(void) {
#pragma omp parallel
    {}
}
"""


def test_a_program_with_a_malloc_of_its_own_is_refused(launcher: Launcher, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp", "-fno-builtin", source=ALLOCATES)
    result = run_with_copies(launcher, program, "-n", "2", "-t", "1")
    assert result.returncode == ENVIRONMENT
    assert f"{program} has a malloc() of its own" in result.stderr


CREATES = "void *_Znwm(unsigned long bytes) { static char memory[1000]; return bytes < 1000 ? memory : 0; }\n"
EMPTY = "int main(void) {\n#pragma omp parallel\n{}\n}"


def test_an_operator_new_of_a_private_library_is_refused(launcher: Launcher, tmp_path: Path) -> None:
    creates = library(tmp_path, "libcreates", CREATES)
    options = ("-fopenmp", "-Wl,--no-as-needed", creates, f"-Wl,-rpath,{tmp_path}")
    result = run_with_copies(launcher, compiled(tmp_path, *options, source=EMPTY), "-n", "2", "-t", "1")
    assert result.returncode == ENVIRONMENT
    assert f"{creates} has an operator new of its own" in result.stderr
