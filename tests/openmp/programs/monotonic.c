/* The iterations of loops with dynamic and guided schedules rise in each thread, with libgomp always; over several
   processes where the user asks for it. The first half takes longer, so those who have the other one look for more. */
#include <omp.h>
#include <stdio.h>

enum { iterations = 4000 };

static void work(int i) {
    volatile int left = i < iterations / 2 ? 4000 : 1;
    while (left > 0) left = left - 1;
}

int main(void) {
    int done = 0, falls = 0;
#pragma omp parallel reduction(+ : done, falls)
    {
        int last = -1;
#pragma omp for schedule(dynamic)
        for (int i = 0; i < iterations; i++) {
            work(i);
            falls += i < last;
            last = i;
            done++;
        }
        last = -1;
#pragma omp for schedule(guided)
        for (int i = 0; i < iterations; i++) {
            work(i);
            falls += i < last;
            last = i;
            done++;
        }
    }
    printf("%d iterations, %d fall\n", done, falls);
    return 0;
}
