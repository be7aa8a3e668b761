// Threads that draw random numbers from generators of the C library: no number comes twice, whether the program has
// seeded them or not, and with the same seed each thread that runs alone draws the same numbers again.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { draws = 40, most = 64 };

static long drawn[3][most * draws];

static int compare(const void* one, const void* other) {
    const long a = *(const long*)one, b = *(const long*)other;
    return a < b ? -1 : a > b;
}

static void draw(const char* when) {
    int threads = 0, twice = 0;
#pragma omp parallel
    {
#pragma omp single
        threads = omp_get_num_threads();
        long* const mine[3] = {drawn[0] + omp_get_thread_num() * draws, drawn[1] + omp_get_thread_num() * draws,
                               drawn[2] + omp_get_thread_num() * draws};
        for (int i = 0; i < draws; ++i) {
            mine[0][i] = rand();
            mine[1][i] = random();
#pragma omp critical // it has no lock of its own
            mine[2][i] = lrand48();
        }
    }
    for (int kind = 0; kind < 3; ++kind) {
        const int count = threads * draws;
        qsort(drawn[kind], (size_t)count, sizeof(long), compare);
        for (int i = 1; i < count; ++i) twice += drawn[kind][i] == drawn[kind][i - 1];
    }
    printf("%s: %d numbers of %d came twice\n", when, twice, 3 * draws);
}

static long sum(void) {
    long sums[most] = {0}, all = 0;
#pragma omp parallel
#pragma omp critical
    for (int i = 0; i < draws; ++i) sums[omp_get_thread_num()] += random() % 1000;
    for (int i = 0; i < most; ++i) all += sums[i];
    return all;
}

int main(void) {
    draw("as they are");
    srand(7);
    srand48(7);
    draw("seeded");
    srandom(8);
    srand48(8);
    draw("and again");
    srandom(5);
    const long first = sum();
    srandom(5);
    printf("the same: %d\n", first == sum());
    return 0;
}
