// Memory that the threads of a worksharing construct share: scans, and variables that keep the value of the last
// iteration that has assigned to them.
#include <omp.h>
#include <stdio.h>

enum { length = 3000 };
static int values[length], before[length], including[length];

int main(void) {
    for (int i = 0; i < length; i++) values[i] = i * 7 % 23;
    int sum = 0;
    unsigned product = 1;
    for (int round = 0; round < 20; round++) {
        sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
        for (int i = 0; i < length; i++) {
            sum += values[i] + round;
#pragma omp scan inclusive(sum)
            including[i] = sum;
        }
        sum = 0;
#pragma omp parallel
#pragma omp for reduction(inscan, + : sum)
        for (int i = 0; i < length; i++) {
            before[i] = sum;
#pragma omp scan exclusive(sum)
            sum += values[i];
        }
    }
    unsigned found = 0;
    for (int i = 0; i < length; i++) found = found * 31 + (unsigned)including[i] + 17 * (unsigned)before[i];
    printf("scans %d %u\n", sum, found);

    int last = -1, chunked = -1, section = -1;
    for (int round = 0; round < 20; round++) {
#pragma omp parallel
        {
#pragma omp for lastprivate(conditional : last)
            for (int i = 0; i < length; i++)
                if (values[i] == 5) last = i + round;
#pragma omp for schedule(dynamic, 100) lastprivate(conditional : chunked)
            for (int i = 0; i < length; i++)
                if (values[i] == 11) chunked = i + round;
#pragma omp sections lastprivate(conditional : section)
            {
#pragma omp section
                section = 1 + round;
#pragma omp section
                if (round < 10) section = 2 + round;
            }
        }
        product = product * 31 + (unsigned)(last + 2 * chunked + 3 * section);
    }
    printf("last %d %d %d %u\n", last, chunked, section, product);
    return 0;
}
