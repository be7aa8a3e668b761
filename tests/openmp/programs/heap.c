// Memory that one thread allocates and others free, again and again; and what else allocates memory.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum { blocks = 1024, rounds = 30 };

static char* block[blocks];

static void free_elsewhere(void) {
    int missing = 0;
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < blocks; ++i) {
            block[i] = malloc(60000);
            if (block[i] != NULL) block[i][0] = 1;
            else ++missing;
        }
#pragma omp parallel for
        for (int i = 0; i < blocks; ++i) free(block[i]);
    }
    printf("missing: %d\n", missing);
}

/// All that a block may have is kept when it becomes longer.
static void make_longer(void) {
    int lost = 0;
#pragma omp parallel reduction(+ : lost)
    for (size_t bytes = 100; bytes < 5000; bytes += 37) {
        char* memory = malloc(bytes);
        const size_t usable = malloc_usable_size(memory);
        memset(memory, 5, usable);
        memory = realloc(memory, 3 * usable);
        for (size_t i = 0; i < usable; ++i) lost += memory[i] != 5;
        free(memory);
    }
    printf("lost: %d\n", lost);
}

/// What the first thread allocates, by whichever function, all see.
static void see_all(void) {
    enum { numbers = 10000 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int* const pages = valloc(numbers * sizeof *pages);
    int* const whole = pvalloc(numbers * sizeof *whole);
    wchar_t* const text = wcsdup(L"wide");
    int wrong = (uintptr_t)pages % page != 0 || (uintptr_t)whole % page != 0;
    for (int i = 0; i < numbers; ++i) pages[i] = i;
#pragma omp parallel for
    for (int i = 0; i < numbers; ++i) whole[i] = 2 * pages[i];
#pragma omp parallel reduction(+ : wrong)
    wrong += wcscmp(text, L"wide") != 0;
    for (int i = 0; i < numbers; ++i) wrong += whole[i] != 2 * i;
    printf("wrong: %d\n", wrong);
    free(pages);
    free(whole);
    free(text);
}

int main(void) {
    free_elsewhere();
    make_longer();
    see_all();
    return 0;
}
