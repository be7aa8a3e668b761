/* Sections, single, copyprivate, masked, barrier, and data: threadprivate, copyin, firstprivate, reductions. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static int own = 5;
#pragma omp threadprivate(own)

typedef struct {
    long sum, product;
} Pair;
#pragma omp declare reduction(join:Pair : omp_out.sum += omp_in.sum,                                                   \
                                  omp_out.product = omp_out.product * omp_in.product % 10007)                          \
    initializer(omp_priv = (Pair){0, 1})

/* The sections that a thread executes rise. */
static int falling_sections(void) {
    int falling = 0;
    for (int round = 0; round < 50; round++) {
#pragma omp parallel reduction(+ : falling)
        {
            int last = 0;
#pragma omp sections
            {
#pragma omp section
                {
                    falling += last > 1, last = 1;
                    usleep(500); /* meanwhile others take what is left */
                }
#pragma omp section
                falling += last > 2, last = 2;
#pragma omp section
                falling += last > 3, last = 3;
#pragma omp section
                falling += last > 4, last = 4;
            }
        }
    }
    return falling;
}

int main(void) {
    int parts[6] = {0};
    for (int round = 0; round < 100; round++) {
#pragma omp parallel
        {
#pragma omp sections nowait
            {
#pragma omp section
                parts[0]++;
#pragma omp section
                parts[1]++;
#pragma omp section
                parts[2]++;
            }
#pragma omp sections
            {
#pragma omp section
                parts[3]++;
#pragma omp section
                parts[4]++;
            }
        }
#pragma omp parallel sections
        {
#pragma omp section
            parts[5]++;
#pragma omp section
            parts[0]++;
        }
    }
    printf("sections %d %d %d %d %d %d\n", parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]);
    printf("falling %d\n", falling_sections());

    int singles = 0, masters = 0, copies = 0, late = 0;
    for (int round = 0; round < 200; round++) {
        int before = 0;
#pragma omp parallel
        {
            int given = -1;
#pragma omp single
            singles++;
#pragma omp single nowait
            singles++;
#pragma omp master
            masters++;
#pragma omp single copyprivate(given)
            given = round;
#pragma omp atomic
            copies += given == round;
#pragma omp atomic
            before++;
#pragma omp barrier
            if (before != omp_get_num_threads()) {
#pragma omp atomic
                late++;
            }
        }
    }
    printf("singles %d masters %d copies %d late %d\n", singles, masters, copies / omp_get_max_threads(), late);

    own = 7;
    int sum = 0, other = 3;
#pragma omp parallel copyin(own) firstprivate(other) reduction(+ : sum)
    {
        sum += own + other;
        own += omp_get_thread_num();
        other = 100;
    }
#pragma omp parallel reduction(+ : sum)
    sum += own;
    printf("private %d own %d other %d\n", sum, own, other);

    long low = 1000, high = -1, bits = 0, all = -1, mixed = 0;
    double real = 1;
    Pair pair = {1, 2};
    long array[5] = {0};
#pragma omp parallel for reduction(min : low) reduction(max : high) reduction(| : bits) reduction(& : all)             \
    reduction(^ : mixed) reduction(* : real) reduction(join : pair) reduction(+ : array) schedule(dynamic)
    for (int i = 1; i <= 60; i++) {
        if (i * 7 % 61 < low) low = i * 7 % 61;
        if (i * 7 % 61 > high) high = i * 7 % 61;
        bits |= 1L << (i % 17);
        all &= ~(1L << (i % 5));
        mixed ^= i;
        real *= i % 2 ? 2 : 0.5;
        pair.sum += i;
        pair.product = pair.product * i % 10007;
        for (int k = 0; k < 5; k++) array[k] += i * k;
    }
    printf("reductions %ld %ld %ld %ld %ld %g %ld %ld %ld %ld\n", low, high, bits, all, mixed, real, pair.sum,
           pair.product, array[1], array[4]);
    return 0;
}
