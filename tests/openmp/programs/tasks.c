/* Tasks: a tree of them, waits and groups, loops of tasks, final, if, nested creation, tasks that are left to a
 * barrier. */
#include <omp.h>
#include <stdio.h>

static long fib(int n) {
    if (n < 2) return n;
    long a, b;
#pragma omp task shared(a) final(n < 8)
    a = fib(n - 1);
#pragma omp task shared(b) if (n > 5)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static int deep(int n) {
    int below = 0;
    if (n == 0) return 0;
#pragma omp task shared(below)
    below = deep(n - 1);
#pragma omp taskwait
    return below + 1;
}

/* How often a thread has passed a barrier before its neighbour arrived. The tasks end while threads wait there, so that
 * the last one to arrive and one that waits both find it ready to open. */
static int passed_early(void) {
    enum { rounds = 3000, most = 64 };
    static struct {
        volatile int round, apart[31];
    } reached[most];
    int early = 0, done = 0;
#pragma omp parallel reduction(+ : early)
    {
        const int me = omp_get_thread_num(), next = (me + 1) % omp_get_num_threads();
        for (int round = 1; round <= rounds; round++) {
            reached[me].round = round;
#pragma omp single
#pragma omp taskgroup
            for (int i = 0; i < 4; i++) {
#pragma omp task shared(done) depend(inout : done)
                done++;
            }
#pragma omp barrier
#pragma omp barrier
            early += reached[next].round != round;
#pragma omp barrier
        }
    }
    return early + (done != 4 * rounds);
}

/* Tasks outside of parallel regions, whose threads see the tasks' own variables. */
static void around_regions(void) {
    enum { length = 3000 };
    int numbers[length], sums[length];
    for (int i = 0; i < length; i++) numbers[i] = 3 * i;
    for (int round = 1; round <= 2; round++) {
#pragma omp task firstprivate(numbers) shared(sums)
        {
#pragma omp parallel for
            for (int i = 0; i < length; i++) numbers[i] += round;
#pragma omp parallel for
            for (int i = 0; i < length; i++) sums[i] = numbers[i] + numbers[length - 1 - i];
        }
    }
#pragma omp taskwait
    int wrong = 0;
    for (int i = 0; i < length; i++) wrong += numbers[i] != 3 * i || sums[i] != 3 * (length - 1) + 4;
    printf("around regions: %d wrong\n", wrong);
}

int main(void) {
    around_regions();
    long result = 0, sum = 0, early = 0, loop = 0;
    int depth = 0;
#pragma omp parallel
#pragma omp single
    {
        result = fib(18);
        depth = deep(200);
    }
    printf("fib %ld deep %d\n", result, depth);

#pragma omp parallel
    {
        for (int i = 0; i < 1000; i++) {
#pragma omp task firstprivate(i)
            {
#pragma omp atomic
                sum += i;
            }
        }
#pragma omp barrier
        if (sum != 499500L * omp_get_num_threads()) {
#pragma omp atomic
            early++;
        }
    }
    printf("sum %ld early %ld\n", sum / omp_get_max_threads(), early);

    int groups = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < 50; round++) {
        int done = 0;
#pragma omp taskgroup
        {
#pragma omp task shared(done)
            {
                for (int i = 0; i < 10; i++) {
#pragma omp task shared(done)
                    {
#pragma omp atomic
                        done++;
                    }
                }
            }
        }
        groups += done == 10;
    }
    printf("groups %d\n", groups);

    int marks[500] = {0};
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(7)
        for (int i = 0; i < 500; i++) marks[i]++;
#pragma omp taskloop num_tasks(11)
        for (int i = 499; i >= 0; i--) marks[i]++;
#pragma omp taskloop
        for (unsigned long long i = 0; i < 500; i += 2) marks[i]++;
#pragma omp taskloop reduction(+ : loop) collapse(2)
        for (int i = 0; i < 20; i++)
            for (int j = 0; j < 20; j++) loop += i * j;
    }
    int wrong = 0;
    for (int i = 0; i < 500; i++) wrong += marks[i] != 2 + (i % 2 == 0);
    printf("taskloop wrong %d sum %ld\n", wrong, loop);

    long produced = 0;
#pragma omp parallel
#pragma omp single nowait
    for (int i = 0; i < 5000; i++) {
#pragma omp task firstprivate(i) untied priority(i % 3)
        {
#pragma omp atomic
            produced += i;
#pragma omp taskyield
        }
    }
    printf("produced %ld\n", produced);
    int final_seen = 0;
#pragma omp parallel
#pragma omp single
#pragma omp task final(1) shared(final_seen)
    {
        final_seen = omp_in_final();
#pragma omp task shared(final_seen)
        final_seen += 2 * omp_in_final();
    }
    printf("final %d\n", final_seen);
    long orphan = 0;
#pragma omp task shared(orphan)
    orphan = fib(10);
#pragma omp taskwait
    printf("orphan %ld\n", orphan);
    printf("barriers %d\n", passed_early());
    return 0;
}
