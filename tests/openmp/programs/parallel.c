/* Parallel regions: how many threads, which numbers, what is shared, and regions inside each other. */
#include <omp.h>
#include <stdio.h>

int main(void) {
    int seen[64] = {0}, threads = 0, wrong = 0;
#pragma omp parallel
    {
#pragma omp atomic
        seen[omp_get_thread_num()]++;
        if (omp_get_thread_num() == 0) threads = omp_get_num_threads();
        if (!omp_in_parallel() != (omp_get_num_threads() == 1) || omp_get_level() != 1) {
#pragma omp atomic
            wrong++;
        }
    }
    for (int i = 0; i < threads; i++) wrong += seen[i] != 1;
    printf("threads %d wrong %d\n", threads, wrong);

    for (int wanted = 1; wanted <= 5; wanted++) {
        int sum = 0, size = 0;
#pragma omp parallel num_threads(wanted) reduction(+ : sum)
        {
            sum += omp_get_thread_num() + 1;
            if (omp_get_thread_num() == 0) size = omp_get_num_threads();
        }
        printf("wanted %d got %d sum %d\n", wanted, size, sum);
    }
#pragma omp parallel if (0)
    printf("alone %d of %d\n", omp_get_thread_num(), omp_get_num_threads());

    int inner = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : inner)
    {
        int deeper = 0;
#pragma omp parallel num_threads(3) reduction(+ : deeper)
        deeper += 1 + 100 * omp_get_level() + (omp_get_ancestor_thread_num(1) < 2) + (omp_get_team_size(1) == 2) +
                  (omp_get_team_size(2) == 3) + (omp_get_ancestor_thread_num(2) == omp_get_thread_num());
        inner += deeper;
    }
    printf("inner %d\n", inner);
    omp_set_max_active_levels(1);
    inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
    {
        int deeper = 0;
#pragma omp parallel num_threads(3) reduction(+ : deeper)
        deeper += omp_get_num_threads() * 10 + omp_get_active_level();
        inner += deeper;
    }
    printf("serialised %d\n", inner);
    long long total = 0;
    for (int round = 0; round < 2000; round++) {
#pragma omp parallel reduction(+ : total)
        total += omp_get_thread_num() == 0 ? round : 0;
    }
    printf("total %lld\n", total);
    long iterations = 0; /* in teams of one process and of several by turns */
    for (int round = 0; round < 60; round++) {
#pragma omp parallel num_threads(1 + round % 4)
#pragma omp for schedule(dynamic) reduction(+ : iterations)
        for (int i = 0; i < 10; i++) iterations += i;
    }
    printf("iterations %ld\n", iterations);
    return wrong != 0;
}
