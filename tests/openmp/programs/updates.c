// Atomic updates whose results the program does not use, and others of the same variables, whose results it does.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { many = 3000, rounds = 4, bins = 1500 };
static long counts[bins];
static double sums[bins];
static unsigned bits[64];
static int left;
static char drawn[2 * rounds * many];

/* Bins of which another rank is the home, beside elements that each thread writes for itself. */
struct cell {
    double sum;
    long own;
};

/* Threads that update a counter, and do not use the result, until they see that each of the others has done so a number
   of times. None of them does anything else for which it would have to tell, or to learn, the others' updates. */
static void count_until_seen(void) {
    enum { each = 12000, looks_at_clock = 4096 };
    const double too_long = 40; // seconds, of which a busy machine may need many
    static long made;
    int unseen = 0;
#pragma omp parallel reduction(+ : unseen)
    {
        const long others = (omp_get_num_threads() - 1L) * each;
        const double begin = omp_get_wtime();
        long own = 0, now = 0;
        while (own < each || now - own < others) {
#pragma omp atomic
            made++;
            own++;
#pragma omp atomic read
            now = made;
            if (own % looks_at_clock == 0 && omp_get_wtime() - begin > too_long) break;
        }
        unseen += now - own < others;
    }
    printf("unseen %d\n", unseen);
}

/* The first region of the program updates what the first thread has allocated and set. */
static void count_first(void) {
    long* const set = malloc(bins * sizeof *set);
    long sum = 0;
    for (int i = 0; i < bins; i++) set[i] = 1;
#pragma omp parallel for
    for (int i = 0; i < 20 * bins; i++) {
#pragma omp atomic
        set[i % bins]++;
    }
    for (int i = 0; i < bins; i++) sum += set[i] * (i + 1);
    printf("first %ld\n", sum);
    free(set);
}

int main(void) {
    count_first();
    struct cell* const cells = malloc(bins * sizeof *cells);
    long* const tickets = calloc(1, sizeof *tickets);
    long on_stack = 0, twice = 0, late = 0, wrong = 0, zeros = 0;
#pragma omp parallel for
    for (int i = 0; i < bins; i++) cells[i] = (struct cell){0, 0};
    left = rounds * many;
    for (int round = 0; round < rounds; round++) {
#pragma omp parallel for reduction(+ : twice, late, zeros)
        for (int i = 0; i < many; i++) {
            long ticket;
#pragma omp atomic
            counts[i * 7 % bins]++;
#pragma omp atomic
            sums[i * 11 % bins] += 0.5;
#pragma omp atomic
            bits[i % 64] |= 1U << i % 31;
#pragma omp atomic
            on_stack -= 2;
#pragma omp atomic
            cells[i * 13 % bins].sum -= 0.25;
            /* A number that is used, of a variable that is updated without use elsewhere. */
            if (i % 50 == 0) {
#pragma omp atomic capture
                ticket = (*tickets)++;
                late += ticket >= rounds * many;
#pragma omp critical
                {
                    twice += drawn[ticket];
                    drawn[ticket] = 1;
                }
            } else {
#pragma omp atomic
                cells[i % bins].own += 1;
            }
            /* The flags are what the program uses. */
            int now;
#pragma omp atomic capture
            now = --left;
            zeros += now == 0;
        }
        /* What is gathered is there behind the region, and behind a critical. */
        long sum = 0;
        for (int i = 0; i < bins; i++) sum += counts[i];
        wrong += sum != (long)(round + 1) * many;
        long seen = -1000000;
#pragma omp parallel reduction(max : seen)
        {
#pragma omp atomic
            on_stack += 1;
#pragma omp critical
            {
                long here;
#pragma omp atomic read
                here = on_stack;
                seen = seen > here ? seen : here;
            }
        }
        wrong += seen != on_stack;
#pragma omp atomic
        on_stack -= omp_get_max_threads();
    }
    double sum = 0, cell_sum = 0;
    long own = 0;
    unsigned common = ~0U;
    for (int i = 0; i < bins; i++) {
        sum += sums[i];
        cell_sum += cells[i].sum;
        own += cells[i].own;
    }
    for (int i = 0; i < 64; i++) common &= bits[i];
    printf("sums %g %g, own %ld, bits %x, stack %ld, tickets %ld\n", sum, cell_sum, own, common, on_stack, *tickets);
    printf("twice %ld, late %ld, zeros %ld, wrong %ld, left %d\n", twice, late, zeros, wrong, left);
    count_until_seen();
}
