// Mutexes, condition variables and call_once of C's threads.h, which the threads of a region share.
#include <omp.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

enum { rounds = 40, length = 1000 };

static mtx_t plain, timed;
static cnd_t changed;
static once_flag flag = ONCE_FLAG_INIT;
static int turn, calls;
static int values[length];

static void initialize(void) {
    ++calls;
    thrd_sleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    for (int i = 0; i < length; ++i) values[i] = i;
}

int main(void) {
    long sum = 0, tried = 0, out_of_turn = 0;
    int wrong = 0, in_vain = 0;
    mtx_init(&plain, mtx_plain);
    mtx_init(&timed, mtx_timed);
    cnd_init(&changed);
#pragma omp parallel reduction(+ : wrong)
    for (int i = 0; i < rounds; ++i) {
        mtx_lock(&plain);
        sum += i;
        mtx_unlock(&plain);
        if (mtx_trylock(&timed) == thrd_success) {
            tried = 1;
            mtx_unlock(&timed);
        }
        call_once(&flag, initialize);
        wrong += values[length - 1] != length - 1;
    }
    const int threads = omp_get_max_threads();
    printf("mutexes %ld %ld, once %d, wrong %d\n", sum / threads, tried, calls, wrong);
#pragma omp parallel
    for (int round = 0; round < 10; ++round) {
        mtx_lock(&plain);
        const int mine = round * omp_get_num_threads() + omp_get_thread_num();
        while (turn != mine) cnd_wait(&changed, &plain);
        out_of_turn += turn++ != mine;
        cnd_broadcast(&changed);
        mtx_unlock(&plain);
    }
    printf("turns %d, out of turn %ld\n", turn / threads, out_of_turn);
    mtx_lock(&timed);
#pragma omp parallel reduction(+ : in_vain)
    if (omp_get_thread_num() != 0) {
        struct timespec end;
        timespec_get(&end, TIME_UTC);
        end.tv_nsec = (end.tv_nsec + 20000000) % 1000000000;
        end.tv_sec += end.tv_nsec < 20000000;
        in_vain += mtx_timedlock(&timed, &end) != thrd_timedout;
        mtx_lock(&plain);
        in_vain += cnd_timedwait(&changed, &plain, &end) != thrd_timedout;
        mtx_unlock(&plain);
    }
    mtx_unlock(&timed);
    printf("in vain %d\n", in_vain);
    cnd_destroy(&changed);
    mtx_destroy(&timed);
    mtx_destroy(&plain);
    return 0;
}
