// Threads that wait for one of two variables: the loop may end with the first one it looks at, and then the thread must
// see what was written before that, too. The other one is never set.
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { rounds = 300, length = 1024 };

static int written, read, stop;
static double value[length]; // by which round it was written last
static int old;              // values that were found and should not have been there any more

__attribute__((noinline)) static void await(int* flag, int wanted) {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted && !__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {}
}

int main(void) {
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
                await(&read, round);
            } else if (me == 0) {
                await(&written, round);
                for (int i = 0; i < length; ++i) old += value[i] != round;
                __atomic_store_n(&read, round, __ATOMIC_RELEASE);
            }
        }
    }
    printf("old %d\n", old);
    return 0;
}
