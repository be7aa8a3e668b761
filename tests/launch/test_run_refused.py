"""What an OpenMP program cannot do over several processes: it ends, and a sentence says why and what helps."""

from __future__ import annotations

from pathlib import Path

from launching import ENVIRONMENT, Launcher
from openmp_runs import compiled, library, run_with_copies

FORKS = "#include <unistd.h>\nint main(void) {\n#pragma omp parallel\n{}\nreturn fork() < 0; }"


def test_what_several_processes_cannot_do_is_refused(launcher: Launcher, tmp_path: Path) -> None:
    program = compiled(tmp_path, "-fopenmp", source=FORKS)
    result = run_with_copies(launcher, program, "-n", "2", "-t", "1")
    assert result.returncode == ENVIRONMENT
    assert "the program uses fork" in result.stderr
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
