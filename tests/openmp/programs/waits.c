// Threads that wait for a variable in loops of different forms. The values behind the variable have another home than
// the variable itself, so a thread that leaves the loop without looking at what others have written finds old ones.
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>

enum { rounds = 100, length = 1024 };

static int written, read, stop, waits;
static double value[length]; // by which round it was written last

#define WAITS __attribute__((noinline)) static void

/// The loop may end with the first of two variables. The other one is never set.
WAITS for_either(int* flag, int wanted) {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted && !__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {}
}

WAITS yielding_at_last(int* flag, int wanted) {
    int passes = 0;
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted)
        if (++passes == 100) {
            sched_yield();
            passes = 0;
        }
}

WAITS in_turns(int* flag, int wanted) {
    for (;;) {
        for (int pass = 0; pass < 1000; ++pass) {
            if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == wanted) return;
            __builtin_ia32_pause();
        }
        sched_yield();
    }
}

WAITS in_growing_steps(int* flag, int wanted) {
    int step = 1;
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted) {
        for (int i = 0; i < step; ++i) __builtin_ia32_pause();
        if (step < 64) step *= 2;
    }
}

/// At a point where tasks may be executed memory is flushed.
WAITS between_tasks(int* flag, int wanted) {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted) {
#pragma omp taskyield
    }
}

/// The compiler puts the pause behind the rest of the function, which so lies inside the loop.
WAITS rarely(int* flag, int wanted) {
    while (__builtin_expect(__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted, 0)) __builtin_ia32_pause();
    __atomic_fetch_add(&waits, 1, __ATOMIC_SEQ_CST);
}

/// With the functions of C.
WAITS in_c(int* flag, int wanted) {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted) thrd_yield();
}

/// A look, when the variable has mostly been set, and only otherwise the wait, in a function of its own.
WAITS await(int* flag, int wanted) {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted) __builtin_ia32_pause();
}
WAITS looking_first(int* flag, int wanted) {
    for (int i = 0; i < 5000000; ++i) __asm__ volatile("");
    if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == wanted) return;
    await(flag, wanted);
    __atomic_fetch_add(&waits, 1, __ATOMIC_SEQ_CST);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

WAITS with_deadline(int* flag, int wanted) {
    const double end = now() + 3600;
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted && now() < end) {}
}

/// What has been seen is kept until the next pass.
WAITS and_take_note(int* flag, int wanted) {
    for (int seen = 0; !seen;)
        if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == wanted) seen = 1;
}

static volatile int most_passes = 100, length_of_delay = 20000;

/// How long the loop is patient is a variable, too.
WAITS up_to_a_limit(int* flag, int wanted) {
    int passes = 0;
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted)
        if (++passes > most_passes) {
            sched_yield();
            passes = 0;
        }
}

/// Returns the seconds of a loop that waits for nothing, but looks at its limit in each pass.
static double let_time_pass(void) {
    const double begin = now();
#pragma omp parallel
    for (int i = 0; i < length_of_delay; ++i) {}
    return now() - begin;
}

typedef void Wait(int* flag, int wanted);

/// Returns how many values were found that should not have been there any more.
static int hand_over(Wait* wait) {
    int old = 0;
#pragma omp parallel
    {
        const int me = omp_get_thread_num(), last = omp_get_num_threads() - 1;
        if (me == 0) written = read = stop = 0; // which decides where their home is
#pragma omp barrier
        if (me == last) memset(value, 0, sizeof value);
#pragma omp barrier
        for (int round = 1; last > 0 && round <= rounds; ++round) {
            if (me == last) {
                for (int i = 0; i < length; ++i) value[i] = round;
                __atomic_store_n(&written, round, __ATOMIC_RELEASE);
                wait(&read, round);
            } else if (me == 0) {
                wait(&written, round);
                for (int i = 0; i < length; ++i) old += value[i] != round;
                __atomic_store_n(&read, round, __ATOMIC_RELEASE);
            }
        }
    }
    return old;
}

int main(void) {
    printf("either: old %d\n", hand_over(for_either));
    printf("yields at last: old %d\n", hand_over(yielding_at_last));
    printf("in turns: old %d\n", hand_over(in_turns));
    printf("in growing steps: old %d\n", hand_over(in_growing_steps));
    printf("between tasks: old %d\n", hand_over(between_tasks));
    printf("rarely: old %d\n", hand_over(rarely));
    printf("in C: old %d\n", hand_over(in_c));
    printf("with a deadline: old %d\n", hand_over(with_deadline));
    printf("and takes note: old %d\n", hand_over(and_take_note));
    printf("looking first: old %d\n", hand_over(looking_first));
    printf("up to a limit: old %d\n", hand_over(up_to_a_limit));
    printf("lets time pass: %s\n", let_time_pass() < 0.5 ? "at once" : "as if it waited");
    return 0;
}
