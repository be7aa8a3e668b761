// Threads that wait for each other by variables alone: each hands a sum to the next one, round by round, and sets a
// flag behind it. The loops that wait look at the flag in the ways in which programs do.
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { most = 16, rounds = 4, apart = 1024 };

static int flags[most * apart]; // on pages of their own
static long sums[most * apart];

#define WAITS __attribute__((noinline)) static void

WAITS by_atomic_read(int* flag, int value) {
    int found;
    do {
#pragma omp atomic read
        found = *flag;
    } while (found != value);
#pragma omp flush
}

// Nothing but the loop itself says that the thread wants to see what others have written.
WAITS by_acquiring_load(int* flag, int value) {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value) {}
}

WAITS by_volatile_and_pause(int* flag, int value) {
    while (*(volatile int*)flag != value) __builtin_ia32_pause();
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

WAITS by_yielding(int* flag, int value) {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value) sched_yield();
}

WAITS by_sleeping(int* flag, int value) {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value) usleep(10);
}

__attribute__((noinline, optimize("O0"))) static void without_optimisation(int* flag, int value) {
    int found = 0;
    while (found != value) {
#pragma omp atomic read
        found = *flag;
    }
#pragma omp flush
}

typedef void Wait(int* flag, int value);

/// A pipeline: thread t adds to what thread t - 1 has left, and the last one tells the first one to go on.
static long pipeline(Wait* wait) {
    memset(flags, 0, sizeof flags);
    memset(sums, 0, sizeof sums);
#pragma omp parallel
    {
        const int me = omp_get_thread_num(), threads = omp_get_num_threads();
        const int before = (me + threads - 1) % threads;
        for (int round = 1; round <= rounds; ++round) {
            if (threads > 1) wait(&flags[before * apart], me == 0 ? round - 1 : round);
            sums[me * apart] = sums[before * apart] + me + round;
#pragma omp flush // which OpenMP asks for; ordered_stores.c has none
            __atomic_store_n(&flags[me * apart], round, __ATOMIC_RELEASE);
        }
        // Whoever comes after has its own loop to wait in, so this thread may go on.
        if (threads > 1) wait(&flags[(threads - 1) * apart], rounds);
    }
    return sums[(omp_get_max_threads() - 1) * apart];
}

int main(void) {
    struct {
        const char* name;
        Wait* wait;
    } ways[] = {{"atomic read", by_atomic_read},
                {"acquiring load", by_acquiring_load},
                {"volatile", by_volatile_and_pause},
                {"sched_yield", by_yielding},
                {"usleep", by_sleeping},
                {"without optimisation", without_optimisation}};
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; ++i) printf("%s: %ld\n", ways[i].name, pipeline(ways[i].wait));
    return 0;
}
