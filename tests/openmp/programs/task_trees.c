/* task_trees [SEED]: random trees of tasks, with all the ways to create them and to wait for them. Over several
   processes, tasks are executed by all of them. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 40, wide = 12 };

typedef struct {
    unsigned seed;
    char pad[200];
} small_block;
typedef struct {
    unsigned seed;
    char pad[600]; /* more than a message takes */
} large_block;

static unsigned next(unsigned* seed) { return *seed = *seed * 1664525u + 1013904223u, *seed >> 8; }

/* Some microseconds, mostly; sometimes more. */
static unsigned work(unsigned seed) {
    const unsigned n = seed % 50 == 0 ? 200000 : seed % 10000;
    unsigned x = seed;
    for (unsigned i = 0; i < n; i++) x = x * 69069u + 1;
    return x;
}

static unsigned long tree(unsigned seed, int depth);

static unsigned long with_taskwait(unsigned seed, int children, int depth) {
    unsigned long found[wide], sum = 0;
    for (int i = 0; i < children; i++) {
#pragma omp task shared(found) firstprivate(i) if (seed % 7 != 0)
        found[i] = tree(seed + 17u * (unsigned)i, depth - 1);
    }
#pragma omp taskwait
    for (int i = 0; i < children; i++) sum = sum * 31 + found[i];
    return sum;
}

static unsigned long with_group(unsigned seed, int children, int depth) {
    unsigned long* const found = calloc((size_t)children, sizeof *found);
    unsigned long sum = 0;
#pragma omp taskgroup
    for (int i = 0; i < children; i++) {
        small_block block;
        memset(&block, i, sizeof block);
        block.seed = seed + 13u * (unsigned)i;
#pragma omp task firstprivate(block, i)
        {
#pragma omp task shared(block) /* in the other task's memory */
            found[i] += tree(block.seed, depth - 1) + (unsigned long)block.pad[100];
#pragma omp taskwait
        }
    }
    for (int i = 0; i < children; i++) sum = sum * 37 + found[i];
    free(found);
    return sum;
}

static unsigned long with_dependences(unsigned seed, int children, int depth) {
    unsigned long a = seed, b = 1, c = 2;
    for (int i = 0; i < children; i++) {
        large_block block;
        memset(&block, i, sizeof block);
        block.seed = seed + (unsigned)i;
#pragma omp task depend(inout : a) depend(in : b) firstprivate(block)
        a = a * 3 + b + work(block.seed) % 5 + (unsigned)block.pad[599];
#pragma omp task depend(in : a) depend(out : c)
        c = a + work((unsigned)a) % 3;
#pragma omp task depend(inout : b) firstprivate(i)
        b += tree(seed + 11u * (unsigned)i, depth - 1);
    }
#pragma omp taskwait depend(in : c)
    unsigned long sum = c;
#pragma omp taskwait
    return sum + a * 41 + b * 43;
}

static unsigned long with_loop(unsigned seed, int children, int depth) {
    unsigned long* const found = calloc((size_t)children * 4, sizeof *found);
    unsigned long sum = 0;
#pragma omp taskloop grainsize(2) shared(found)
    for (int i = 0; i < children * 4; i++) found[i] = work(seed + (unsigned)i);
#pragma omp taskloop nogroup num_tasks(3) shared(found)
    for (int i = 0; i < children; i++) found[i] += tree(seed * 3u + (unsigned)i, depth - 1);
#pragma omp taskwait
    for (int i = 0; i < children * 4; i++) sum = sum * 29 + found[i];
    free(found);
    return sum;
}

static unsigned long tree(unsigned seed, int depth) {
    const unsigned kind = next(&seed) % 6;
    const int children = (int)(next(&seed) % wide);
    const unsigned long own = work(seed);
    if (depth <= 0) return own;
    switch (kind) {
    case 0: return own + with_taskwait(seed, children, depth);
    case 1: return own + with_group(seed, children, depth);
    case 2: return own + with_dependences(seed, children / 2, depth);
    case 3: return own + with_loop(seed, children / 2, depth);
    default: return own;
    }
}

int main(int argc, char** argv) {
    static unsigned long roots[64], later[64];
    const unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    for (unsigned round = 0; round < rounds; round++) {
        const int count = 1 + (int)round % 64;
#pragma omp parallel
        {
            /* All threads create tasks; there is a barrier in the middle; and one thread creates some before the end.
             */
#pragma omp for nowait
            for (int i = 0; i < count; i++) {
#pragma omp task firstprivate(i)
                roots[i] = tree(seed + round * 1000u + (unsigned)i, 3);
            }
#pragma omp barrier
#pragma omp single nowait
            for (int i = 0; i < count; i++) {
#pragma omp task firstprivate(i)
                later[i] = roots[count - 1 - i] + tree(seed + round * 77u + (unsigned)i, 2);
            }
        }
        unsigned long sum = 0;
        for (int i = 0; i < count; i++) sum = sum * 1000003u + later[i];
        printf("%u %lx\n", round, sum);
    }
}
