// Scope constructs: reductions of all threads, of tasks, and private variables, with and without a barrier.
#include <omp.h>
#include <stdio.h>

enum { rounds = 10 };

int main(void) {
    long sum = 0, most = 0, of_tasks = 0, late = 0;
    int after = 0;
#pragma omp parallel
    {
        const int me = omp_get_thread_num(), threads = omp_get_num_threads();
        for (int round = 0; round < rounds; ++round) {
#pragma omp scope reduction(+ : sum) reduction(max : most)
            {
                sum += me + 1;
                most = me + round;
            }
            // The barrier at its end lets all threads see the sum.
            if (sum != (round + 1L) * threads * (threads + 1) / 2 || most != threads - 1 + round)
#pragma omp atomic
                ++after;
#pragma omp barrier
        }
        int own = -1;
#pragma omp scope private(own) nowait reduction(+ : late)
        {
            own = me;
            late += own;
        }
        if (own != -1)
#pragma omp atomic
            ++after;
#pragma omp scope reduction(task, + : of_tasks)
        for (int i = 0; i < 20; ++i)
#pragma omp task in_reduction(+ : of_tasks)
            of_tasks += i;
    }
    const int threads = omp_get_max_threads();
    printf("sum %ld, most %ld, late %ld\n", sum / threads / (threads + 1), most - threads,
           late - threads * (threads - 1) / 2);
    printf("of tasks %ld, wrong %d\n", of_tasks / threads, after);
    return 0;
}
