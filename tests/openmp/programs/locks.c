/* Critical, atomic, locks and nestable locks: none of the updates is lost. The argument is the number of
   updates. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** arguments) {
    const int rounds = count > 1 ? atoi(arguments[1]) : 20000;
    long plain = 0, first = 0, second = 0, locked = 0, nested = 0, tried = 0;
    long double wide = 0;
    double real = 0;
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < rounds; i++) {
#pragma omp critical
            plain += i;
#pragma omp critical(one)
            first += 1;
#pragma omp critical(two)
            second += 2;
#pragma omp atomic
            real += 0.5;
#pragma omp atomic
            wide += 1;
            omp_set_lock(&lock);
            locked++;
            omp_unset_lock(&lock);
            omp_set_nest_lock(&nest);
            if (omp_test_nest_lock(&nest) == 2) {
                nested++;
                omp_unset_nest_lock(&nest);
            }
            omp_unset_nest_lock(&nest);
            while (!omp_test_lock(&lock)) {}
            tried++;
            omp_unset_lock(&lock);
        }
    }
    printf("%ld %ld %ld %ld %ld %ld %g %Lg\n", plain, first, second, locked, nested, tried, real, wide);
    for (int i = 0; i < 7 * rounds; i++) { /* the tickets of a lock come round */
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
    }
    printf("open %d\n", omp_test_lock(&lock));
    omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    return 0;
}
