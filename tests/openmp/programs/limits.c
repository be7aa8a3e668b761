// With OMP_THREAD_LIMIT: all regions together, also those inside others, have no more threads than that.
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    int now = 0, most = 0;
    omp_set_max_active_levels(3);
    for (int threads = 1; threads <= 8; threads++) {
        int found = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
        found = omp_get_num_threads();
        printf("%d of %d\n", found, threads);
    }
#pragma omp parallel num_threads(5)
#pragma omp parallel num_threads(5)
#pragma omp parallel num_threads(2)
    {
        int count;
#pragma omp atomic capture
        count = ++now;
#pragma omp critical
        if (count > most) most = count;
        usleep(10000);
#pragma omp atomic
        --now;
    }
    printf("at most %d: %s\n", omp_get_thread_limit(), most <= omp_get_thread_limit() ? "yes" : "no");
}
