/* Cancellation: what is cancelled ends early, and what follows works. Run with OMP_CANCELLATION=true. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

/* A thread that is many constructs ahead of one that has left the region does not wait for it. */
static void run_ahead(void) {
    long done = 0;
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
        }
        for (int round = 0; round < 40; round++) {
#pragma omp for nowait schedule(dynamic)
            for (int i = 0; i < 10; i++) {
#pragma omp atomic
                done++;
            }
#pragma omp sections nowait
            {
#pragma omp section
                {
#pragma omp atomic
                    done++;
                }
            }
        }
    }
    printf("ahead %d\n", done <= 440);
}

/* A thread enters a loop with a reduction of tasks when another one, which entered before, has left the region. */
static void reduce(void) {
    int right = 0;
    for (int round = 0; round < 100; round++) {
        int sum = 0;
#pragma omp parallel num_threads(3)
        {
            if (omp_get_thread_num() == round % 3) {
#pragma omp cancel parallel
            }
#pragma omp for reduction(task, + : sum)
            for (int i = 0; i < 30; i++) {
#pragma omp task in_reduction(+ : sum)
                sum++;
            }
        }
        right += 0 <= sum && sum <= 30;
    }
    printf("reductions %d\n", right);
}

/* Tasks of a group that may be cancelled stay in the process of its thread: those elsewhere would not learn of it. */
static void stay(void) {
    int elsewhere = 0, here = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        const pid_t creator = getpid();
        for (int i = 0; i < 300; i++) {
#pragma omp task shared(elsewhere, here)
            {
                volatile int work = 0;
                while (work < 5000) work = work + 1;
#pragma omp atomic
                here++;
                if (getpid() != creator) {
#pragma omp atomic
                    elsewhere++;
                }
            }
        }
    }
    printf("stayed %d %d\n", here, elsewhere);
}

int main(void) {
    int done = 0, after = 0, groups = 0;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 20000; i++) {
#pragma omp atomic
            done++;
            if (i == 10) {
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
#pragma omp atomic
        after++;
    }
    printf("loop %d after %d\n", done < 20000, after == omp_get_max_threads());
    for (int round = 0; round < 50; round++) {
        int past = 0;
#pragma omp parallel num_threads(3)
        {
            if (omp_get_thread_num() == round % 3) {
#pragma omp cancel parallel
            }
#pragma omp barrier
#pragma omp cancellation point parallel
#pragma omp atomic
            past++;
        }
        groups += past;
        int sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
        for (int i = 0; i < 20; i++) sum += i;
        groups += sum != 190;
    }
    printf("parallel %d\n", groups);
    int ran = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 2000; i++) {
#pragma omp task shared(ran)
        {
#pragma omp atomic
            ran++;
#pragma omp cancel taskgroup
        }
    }
    printf("taskgroup %d\n", ran < 2000);
    run_ahead();
    reduce();
    stay();
    return 0;
}
