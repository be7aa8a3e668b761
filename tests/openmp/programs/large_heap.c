// A block of memory that is a third of what this machine has left, and of which only a few pages are used.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size_t)sysconf(_SC_AVPHYS_PAGES) / 3,
                 step = pages / 1000;
    int* const block = malloc(pages * page);
    int wrong = 0;
    if (block == NULL) return 1;
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) block[(size_t)i * step * page / sizeof *block] = i + 1;
#pragma omp parallel for schedule(dynamic, 10) reduction(+ : wrong)
    for (int i = 0; i < 1000; i++) wrong += block[(size_t)i * step * page / sizeof *block] != i + 1;
    printf("wrong %d\n", wrong);
    free(block);
    return 0;
}
