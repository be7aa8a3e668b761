// All threads make their first call of syscall() at once. The runtime's own threads wait for each other by it, too.
#include <omp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
    int wrong = 0, waiting = 0;
#pragma omp parallel reduction(+ : wrong)
    {
#pragma omp atomic
        ++waiting;
        for (int seen = 0; seen < omp_get_num_threads();)
#pragma omp atomic read
            seen = waiting;
        wrong += syscall(SYS_getppid) != getppid();
    }
    printf("wrong: %d\n", wrong);
    return 0;
}
