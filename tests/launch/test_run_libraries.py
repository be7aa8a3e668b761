"""Libraries of OpenMP programs that run as several processes: their memory, locks, threads and MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from launching import ENVIRONMENT, Launcher, lines
from openmp_runs import COPIES, compiled, library, run_over_hosts, run_with_copies

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
USES_KEPT = """
int *keep(void);
int look(int *kept);
int main(void) {
    int sum = 0, *kept = keep();
#pragma omp parallel reduction(+ : sum)
    sum += USE;
    return sum;
}
"""


@pytest.mark.parametrize(
    ("use", "sentence", "remedy", "libraries"),
    [
        ("look(kept)", "has used in libkeeps;", "with --libraries libkeeps;", "libkeeps"),
        ("*kept", "which the program has used; if", "(--libraries all);", "all"),
    ],
    ids=["library", "program"],
)
def test_the_use_of_memory_that_a_library_has_in_another_process_is_explained(
    launcher: Launcher, tmp_path: Path, use: str, sentence: str, remedy: str, libraries: str
) -> None:
    keeps = library(tmp_path, "libkeeps", LIBRARY_KEEPS)
    program = compiled(tmp_path, "-fopenmp", f"-DUSE={use}", keeps, f"-Wl,-rpath,{tmp_path}", source=USES_KEPT)
    result = run_with_copies(launcher, program, "-n", "2", "-t", "1")
    assert result.returncode == 128 + 11
    assert sentence in result.stderr and remedy in result.stderr
    named = run_with_copies(launcher, program, "-n", "2", "-t", "1", "--libraries", libraries)
    assert named.returncode == 14, named.stderr


def test_a_library_that_is_missing_is_named(launcher: Launcher, tmp_path: Path) -> None:
    lost = Path(library(tmp_path, "liblost", LIBRARY_KEEPS))
    program = compiled(tmp_path, "-fopenmp", "-DUSE=*kept", str(lost), f"-Wl,-rpath,{tmp_path}", source=USES_KEPT)
    lost.unlink()
    result = launcher.run("-n", "2", "--openmp", program)
    assert result.returncode == ENVIRONMENT
    assert f"its library {lost} is not found" in result.stderr


# A library notes in its constructor which thread has started the process, and prepares it.
LIBRARY_NOTES = """
#include <pthread.h>
#include <signal.h>
#include <threads.h>
static pthread_t first;
static thrd_t first_of_c;
static _Thread_local int prepared = 1;
volatile sig_atomic_t signals;
static void count(int signal) { signals += pthread_equal(first, pthread_self()); }
__attribute__((constructor)) static void note(void) {
    first = pthread_self();
    first_of_c = thrd_current();
    prepared = 5;
    signal(SIGUSR1, count);
}
int is_first(void) { return pthread_equal(first, pthread_self()) && thrd_equal(first_of_c, thrd_current()); }
int is_prepared(void) { return prepared; }
static void *call(void *unused) { return (void *)(long)pthread_kill(first, SIGUSR1); }
int call_first(void) {
    pthread_t other;
    void *failed;
    pthread_create(&other, 0, call, 0);
    pthread_join(other, &failed);
    pthread_attr_t attributes;
    char *stack;
    size_t bytes;
    pthread_getattr_np(first, &attributes);
    pthread_attr_getstack(&attributes, (void **)&stack, &bytes);
    return failed == 0 && signals == 1 && (char *)&stack >= stack && (char *)&stack < stack + bytes;
}
"""
USES_FIRST = """
#include <stdio.h>
int is_first(void), is_prepared(void), call_first(void);
int main(void) {
    int firsts = 0, prepared = 0;
#pragma omp parallel reduction(+ : firsts, prepared)
    {
        firsts += is_first();
        prepared += is_prepared();
    }
    printf("%d %d %d %d\n", firsts, prepared, is_first(), call_first());
    return 0;
}
"""


def test_main_runs_in_the_thread_that_libraries_have_noted(launcher: Launcher, tmp_path: Path) -> None:
    """Four threads, of which one is the first, and has 5 in a variable in which the others have 1."""
    notes = library(tmp_path, "libnotes", "#define _GNU_SOURCE\n" + LIBRARY_NOTES)
    program = compiled(tmp_path, "-fopenmp", notes, f"-Wl,-rpath,{tmp_path}", source=USES_FIRST)
    assert lines(run_with_copies(launcher, program, "-n", "2", "-t", "2")) == ["1 8 1 1"]
    assert lines(launcher.run("-n", "1", "-t", "4", "--openmp", program)) == ["1 8 1 1"]


# A library with functions for its begin and end that are in no table, as some compilers make them for all constructors.
LIBRARY_WITHOUT_TABLES = """
#include <stdio.h>
#include <stdlib.h>
static int count = 0, begins, *numbers;
void first(void) { begins++; numbers = malloc(4000); numbers[3] = 7; }
void last(void) {
    __atomic_fetch_add(&count, numbers[3], __ATOMIC_SEQ_CST);
    printf("%d %d\\n", begins, count);
}
void add(void) { __atomic_fetch_add(&count, numbers[3], __ATOMIC_SEQ_CST); }
"""
USES_LIBRARY_WITHOUT_TABLES = """
void add(void);
int main(void) {
#pragma omp parallel
    add();
    return 0;
}
"""


def test_the_begin_and_the_end_of_a_library_of_the_program(launcher: Launcher, tmp_path: Path) -> None:
    flags = ("-Wl,-init,first", "-Wl,-fini,last")
    begun = library(tmp_path, "libbegun", LIBRARY_WITHOUT_TABLES, *flags)
    program = compiled(tmp_path, "-fopenmp", begun, f"-Wl,-rpath,{tmp_path}", source=USES_LIBRARY_WITHOUT_TABLES)
    named = run_with_copies(launcher, program, "-n", "2", "-t", "1", "--libraries", "libbegun")
    assert lines(named) == ["1 21"]


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


# A library in C++ whose threads wait at a condition variable, until its destructor lets them end. What it allocates by
# `new` all processes see.
LIBRARY_POOL = r"""
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
struct Pool {
    std::mutex mutex;
    std::condition_variable changed;
    bool ends = false;
    int given = 0, done = 0;
    std::vector<std::thread> threads;
    Pool() { for (int i = 0; i < 3; ++i) threads.emplace_back([this] { work(); }); }
    void work() {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [this] { return ends || given > done; });
            if (ends) return;
            ++done;
            changed.notify_all();
        }
    }
    ~Pool() {
        {
            const std::lock_guard lock(mutex);
            ends = true;
        }
        changed.notify_all();
        for (auto& thread : threads) thread.join();
    }
};
static std::unique_ptr<Pool> pool;
extern "C" int give(int count) {
    if (!pool) pool = std::make_unique<Pool>();
    std::unique_lock lock(pool->mutex);
    pool->given += count;
    pool->changed.notify_all();
    pool->changed.wait(lock, [] { return pool->done == pool->given; });
    return pool->done;
}
"""
USES_POOL = r"""
int give(int count);
int main(void) {
    int sum = 0;
    #pragma omp parallel reduction(+ : sum)
    ++sum;
    return give(sum);
}
"""


@pytest.mark.parametrize("libraries", ["", "all", "libpool"])
def test_threads_of_a_library_end_with_it(
    launcher: Launcher, remote_shell: str, tmp_path: Path, libraries: str
) -> None:
    pool = library(tmp_path, "libpool", LIBRARY_POOL, "-std=c++17", compiler="g++")
    program = compiled(tmp_path, "-fopenmp", pool, f"-Wl,-rpath,{tmp_path}", source=USES_POOL)
    options = ("-t", "2", "--libraries", libraries)
    copies = run_with_copies(launcher, program, "-n", "2", *options)
    assert copies.returncode == 4, copies.stderr
    hosts = run_over_hosts(launcher, remote_shell, "a,b", *options, "--openmp", program)
    assert hosts.returncode == 4, hosts.stderr
    assert launcher.nothing_left()


# A library that does not belong to the program has memory on a page whose home is the other process in the end.
LIBRARY_LOOKS_LAST = r"""
#include <cstdio>
#include <unistd.h>
struct Kept {
    int *number = nullptr;
    ~Kept() {
        char text[20];
        const int length = std::snprintf(text, sizeof text, "%d\n", *number);
        if (write(STDOUT_FILENO, text, length) < 0) _exit(1);
    }
};
static Kept kept;
int *keep() { return kept.number = new int[2]{42, 0}; }
"""
USES_KEPT_TO_THE_END = r"""
#include <cstdlib>
#include <omp.h>
int *keep();
int main(int count, char**) {
    int* beside = keep() + 1;
    #pragma omp parallel
    {
        if (omp_get_thread_num() == 1) *beside = 1;
        #pragma omp barrier
        if (omp_get_thread_num() == 0 && count > 1) std::exit(0);
        #pragma omp barrier
    }
}
"""


@pytest.mark.parametrize("words", [(), ("inside",)], ids=["main", "region"])
def test_a_library_may_use_its_memory_when_the_job_has_ended(
    launcher: Launcher, remote_shell: str, tmp_path: Path, words: tuple[str, ...]
) -> None:
    keeps = library(tmp_path, "libkeeps", LIBRARY_LOOKS_LAST, compiler="g++")
    options = ("-fopenmp", keeps, f"-Wl,-rpath,{tmp_path}")
    program = compiled(tmp_path, *options, source=USES_KEPT_TO_THE_END, compiler="g++")
    result = run_over_hosts(launcher, remote_shell, "a,b", "-t", "1", "--homes", "next", "--openmp", program, *words)
    assert lines(result) == ["42"]


WITH_MPI = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int level, ranks, sum = 0, total;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i <= 100; i++) sum += i;
    MPI_Allreduce(&sum, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d %d\n", ranks, total);
    return MPI_Finalize();
}
"""


@pytest.mark.parametrize("compiler", ["mpicc.openmpi", "mpicc.mpich"])
@pytest.mark.parametrize("libraries", ["", "all"])
def test_a_program_with_mpi_is_one_rank_of_it(
    launcher: Launcher, tmp_path: Path, compiler: str, libraries: str
) -> None:
    """Neither is a daemon of Open MPI started by fork(), nor does MPI become shared by the processes."""
    program = compiled(tmp_path, "-fopenmp", source=WITH_MPI, compiler=compiler)
    result = run_with_copies(launcher, program, "-n", "2", "-t", "1", "--libraries", libraries)
    assert (result.returncode, result.stdout) == (0, "1 5050\n"), result.stderr
    assert launcher.nothing_left()
