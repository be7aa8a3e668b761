// Handlers of signals: they use memory that other processes write, and atomic instructions, and come in the middle of
// regions, constructs and waits.
#define _GNU_SOURCE
#include <omp.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

enum { count = 2000 };

static struct {
    volatile long ticks;
    long values[count];
} shared; // in the same pages
static long atomic_ticks;
static sigjmp_buf limit;

static void tick(int signal) {
    (void)signal;
    ++shared.ticks;
    __atomic_fetch_add(&atomic_ticks, 1, __ATOMIC_SEQ_CST);
}

static void end_wait(int signal) {
    (void)signal;
    siglongjmp(limit, 1);
}

static void set_timer(int first, int period) {
    const struct itimerval every = {{0, period}, {0, first}};
    setitimer(ITIMER_REAL, &every, NULL);
}

// On a machine with much other work the first ticks may be late.
static int goes_on(double seconds) { return seconds < 0.3 || (shared.ticks <= 5 && seconds < 10); }

static int order(const void* one, const void* other) { return (one > other) - (one < other); }
static void keep(void* number) { (void)number; }

// The C library allocates each node of the tree, and a tick, for whose atomic instruction the runtime allocates memory,
// may come in the middle of that.
static void during_regions(void) {
    long rounds = 0, atomics = 0;
    int right = 1;
    void* tree = NULL;
    set_timer(500, 500);
    for (const double begin = omp_get_wtime(); goes_on(omp_get_wtime() - begin); ++rounds) {
#pragma omp parallel for schedule(static, 1)
        for (int i = 0; i < count; ++i) {
            shared.values[i] += i;
            if (i % 500 != 0) continue;
#pragma omp atomic
            ++atomics;
        }
        for (uintptr_t i = 0; i < 1000; ++i) tsearch((void*)(i * 997 % 1000 + 1000 * (uintptr_t)rounds), &tree, order);
    }
    set_timer(0, 0);
    tdestroy(tree, keep);
    for (int i = 0; i < count; ++i) right = right && shared.values[i] == rounds * i;
    printf("regions: %s, %s\n", right && atomics == 4 * rounds ? "right" : "wrong",
           shared.ticks > 5 ? "ticks" : "none");
    // Two threads may be in the handler at the same time, which costs a tick, but no atomic one.
    printf("in the handler: %s\n", shared.ticks <= atomic_ticks ? "right" : "wrong");
}

static void during_waits(void) {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGALRM);
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) shared.values[0] = 1; // so that the page is there
    set_timer(20000, 20000);
    sigsuspend(&all);
    pause();
    set_timer(0, 0);
    printf("waits: have ended\n");
}

static void with_limit(void) {
    volatile long steps = 0;
    int threads = 0;
    signal(SIGALRM, end_wait);
    if (sigsetjmp(limit, 1) == 0) {
        set_timer(20000, 0);
        for (;;) ++steps;
    }
#pragma omp parallel reduction(+ : threads)
    ++threads;
    printf("limit: %d threads\n", threads);
}

int main(void) {
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sysv_signal(SIGTRAP, tick); // what signal() is in strict C
    sigaction(SIGALRM, &action, NULL);
    during_regions();
    during_waits();
    with_limit();
    return 0;
}
