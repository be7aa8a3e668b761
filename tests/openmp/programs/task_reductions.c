/* Reductions in which tasks take part: of a taskgroup, of a parallel region, of worksharing constructs. */
#include <omp.h>
#include <stdio.h>

int main(void) {
    long group = 0, region = 0, loop = 0, sections = 0, array[4] = {0};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : group, array)
    for (int i = 1; i <= 300; i++) {
#pragma omp task in_reduction(+ : group, array) firstprivate(i)
        {
            group += i;
            array[i % 4] += i;
#pragma omp task in_reduction(+ : group) firstprivate(i)
            group += 1000 * i;
        }
    }
#pragma omp parallel reduction(task, + : region)
    {
        region += 1;
#pragma omp task in_reduction(+ : region)
        region += 10;
    }
#pragma omp parallel
    {
#pragma omp for reduction(task, + : loop) schedule(dynamic)
        for (int i = 0; i < 40; i++) {
#pragma omp task in_reduction(+ : loop) firstprivate(i)
            loop += i;
        }
#pragma omp sections reduction(task, + : sections)
        {
#pragma omp section
            {
#pragma omp task in_reduction(+ : sections)
                sections += 5;
            }
#pragma omp section
            sections += 7;
        }
    }
    printf("%ld %ld %ld %ld %ld %ld %ld %ld\n", group, array[0], array[1], array[2], array[3],
           region / omp_get_max_threads(), loop, sections);
    return 0;
}
