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

int main(void) {
    free_elsewhere();
    return 0;
}
