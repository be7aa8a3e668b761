/* Dependences between tasks: chains, readers between writers, sets, and a wait for some of them. */
#include <omp.h>
#include <stdio.h>
#include <sys/resource.h>

#define N 12
static long grid[N + 1][N + 1];

/* A wait for all children ends what the runtime has to remember of them. */
static char used[200000];
static int keeps_memory(void) {
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < (int)sizeof used; i++) {
#pragma omp task depend(out : used[i]) firstprivate(i)
        used[i] = 1;
        if (i % 1000 == 999) {
#pragma omp taskwait
        }
    }
    getrusage(RUSAGE_SELF, &after);
    return after.ru_maxrss - before.ru_maxrss > 16 * 1024;
}

int main(void) {
    long chain = 1, wrong = 0, after = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 200; i++) {
#pragma omp task depend(inout : chain) firstprivate(i) shared(chain)
            chain = (chain * 17 + i) % 100003;
        }
#pragma omp taskwait
        for (int round = 0; round < 100; round++) {
            int value = 0, sum = 0;
#pragma omp task depend(out : value) shared(value)
            value = round + 1;
            for (int reader = 0; reader < 5; reader++) {
#pragma omp task depend(in : value) shared(value, sum)
                {
#pragma omp atomic
                    sum += value;
                }
            }
#pragma omp task depend(inout : value) shared(value, sum, wrong)
            {
                if (sum != 5 * (round + 1)) wrong++;
                value = -1;
            }
#pragma omp taskwait depend(in : value)
            if (value != -1) after++;
#pragma omp taskwait
        }
        for (int i = 0; i <= N; i++) grid[i][0] = grid[0][i] = 1;
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++) {
#pragma omp task depend(in : grid[i - 1][j], grid[i][j - 1]) depend(out : grid[i][j]) firstprivate(i, j)
                grid[i][j] = (grid[i - 1][j] + grid[i][j - 1]) % 1000007;
            }
    }
    printf("chain %ld wrong %ld after %ld grid %ld\n", chain, wrong, after, grid[N][N]);

    long set = 0;
    int last = 0;
#pragma omp parallel
#pragma omp single
    {
        omp_depend_t object;
#pragma omp depobj(object) depend(inout : last)
        for (int i = 0; i < 50; i++) {
#pragma omp task depend(mutexinoutset : set) shared(set)
            set += 3;
        }
#pragma omp task depend(in : set) depend(depobj : object) shared(set, last)
        last = (int)set;
#pragma omp task depend(depobj : object) shared(last)
        last += 1;
#pragma omp taskwait
#pragma omp depobj(object) destroy
#pragma omp task if (0) depend(inout : last) shared(last)
        last += 1;
    }
    printf("set %ld last %d\n", set, last);
    printf("keeps memory %d\n", keeps_memory());
    return 0;
}
