// Threads that look at a variable until one of them has done all the work, in a loop with a construct for that one.
#include <omp.h>
#include <stdio.h>

enum { work = 20, spins = 200 * 1000 };

/// Returns how much thread `who` has done. It takes so long that the others have looked before the end.
__attribute__((noinline)) static int done_by(int who) {
    int left = work, done = 0;
#pragma omp parallel
    {
        while (1) {
            int found;
#pragma omp atomic read
            found = left;
            if (found <= 0) break;
#pragma omp masked filter(who)
            {
                for (volatile int spin = 0; spin < spins; ++spin) {}
                ++done;
#pragma omp atomic
                --left;
            }
        }
    }
    return done;
}

int main(void) {
    printf("the first one: %d\n", done_by(0));
    printf("the last one: %d\n", done_by(omp_get_max_threads() - 1));
    return 0;
}
