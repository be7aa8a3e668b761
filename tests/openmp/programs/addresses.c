// What programs do with the addresses of functions. This one is not position-independent, so the address of another
// file's function is that of the program's own call of it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void* (*volatile allocate)(size_t) = malloc;

int main(void) {
    // As oneTBB does, which wants its threads to run anywhere.
    int (*const run_anywhere)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "kmp_set_thread_affinity_mask_initial");
    const int failed = run_anywhere != NULL && run_anywhere() != 0;
    int* const numbers = allocate(100 * sizeof *numbers);
    int sum = 0;
    for (int i = 0; i < 100; ++i) numbers[i] = i;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += numbers[i];
    printf("sum %d, failed %d\n", sum, failed);
    free(numbers);
    return 0;
}
