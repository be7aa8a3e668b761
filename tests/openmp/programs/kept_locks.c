/* Locks that threads enter and leave all the time, which a process keeps for a while; the program never tries to enter
   one. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { rounds = 3000, many = 200 };

/* Three locks by turns, and variables on main's stack, in static memory and on the heap. */
static void criticals(void) {
    static long in_data = 0;
    long on_stack = 0, *const on_heap = calloc(1, sizeof *on_heap), n = 10 * rounds;
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
#pragma omp critical(one)
        on_stack += i;
#pragma omp critical(two)
        in_data += 2 * i;
#pragma omp critical
        ++*on_heap;
    }
    printf("%ld %ld %ld\n", on_stack, in_data, *on_heap);
    free(on_heap);
}

/* More locks than are kept, between barriers; one is held across them. */
static void locks(void) {
    static omp_lock_t lock[many], held;
    static long counts[many];
    long wrong = 0;
    for (int i = 0; i < many; i++) omp_init_lock(&lock[i]);
    omp_init_lock(&held);
#pragma omp parallel
    for (int round = 1; round <= 10; round++) {
        if (omp_get_thread_num() == 0) omp_set_lock(&held);
        for (int i = 0; i < 2 * many; i++) {
            omp_set_lock(&lock[i % many]);
            counts[i % many]++;
            omp_unset_lock(&lock[i % many]);
        }
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            for (int i = 0; i < many; i++) wrong += counts[i] != 2L * round * omp_get_num_threads();
            omp_unset_lock(&held);
        }
#pragma omp barrier
    }
    printf("wrong %ld\n", wrong);
    for (int i = 0; i < many; i++) omp_destroy_lock(&lock[i]);
    omp_destroy_lock(&held);
}

/* A thread that has a lock no more, but whose process has kept it, computes for long. */
static void idle(void) {
    double waited = 0;
    long entered = 0;
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        for (int i = 0; i < rounds && me == 0; i++)
#pragma omp critical(one)
            entered++;
#pragma omp barrier
        if (me == 0) {
            for (int i = 0; i < rounds; i++)
#pragma omp critical(one)
                entered++;
            volatile double sum = 0;
            for (const double end = omp_get_wtime() + 0.3; omp_get_wtime() < end;)
                for (int i = 0; i < 1000; i++) sum += i;
        } else {
            const double begin = omp_get_wtime();
#pragma omp critical(one)
            entered++;
            const double took = omp_get_wtime() - begin;
#pragma omp critical(two)
            waited = took > waited ? took : waited;
        }
    }
    printf("entered %ld, waited long %d\n", entered - omp_get_max_threads(), waited > 0.25);
}

static void mutexes(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    long sum = 0;
#pragma omp parallel for
    for (int i = 0; i < 10 * rounds; i++) {
        pthread_mutex_lock(&mutex);
        sum += i;
        pthread_mutex_unlock(&mutex);
    }
    printf("%ld\n", sum);
}

int main(void) {
    criticals();
    locks();
    idle();
    mutexes();
    return 0;
}
