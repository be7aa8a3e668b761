// A wavefront: each row of a plane is written after the row before it, and only flags order the threads, as in the LU
// of the NAS parallel benchmarks. A flag is set by a plain store behind the data, without a flush, as programs for
// processors with ordered stores do, and all flags are in one page.
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { planes = 40, rows = 12, columns = 160, sweeps = 4 };

static double value[planes][rows][columns]; // by which sweep it was written last
static double seen[rows];
static int full[rows]; // whether row j of the present plane is there for row j + 1
static int old;        // values that were found and should not have been there any more

static void await(int* flag, int wanted) {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted) {
#pragma omp flush
    }
}

/// Work of a thread alone. Meanwhile others may find its flag and not what is behind it.
static void compute(void) {
    for (volatile int step = 0; step < 10000; ++step) {}
}

/// Threads get copies of rows of others, which are old as soon as the sweep has written them.
static void look(void) {
#pragma omp for schedule(static)
    for (int j = 0; j < rows; ++j)
        for (int plane = 0; plane < planes; ++plane) seen[j] += value[plane][j > 0 ? j - 1 : 0][columns - 1];
}

static void write(int plane, int sweep) {
    int found = 0;
#pragma omp for schedule(static) nowait
    for (int j = 0; j < rows; ++j) {
        if (j > 0) await(&full[j - 1], 1);
        if (j < rows - 1) await(&full[j], 0);
        for (int i = 0; i < columns; ++i) {
            if (j > 0 && value[plane][j - 1][i] != sweep) ++found;
            value[plane][j][i] = sweep;
        }
        if (j < rows - 1) __atomic_store_n(&full[j], 1, __ATOMIC_RELEASE);
        if (j > 0) __atomic_store_n(&full[j - 1], 0, __ATOMIC_RELEASE);
    }
    if (found != 0) {
#pragma omp atomic
        old += found;
    }
}

int main(void) {
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) memset(full, 0, sizeof full); // which decides where their home is
#pragma omp barrier
        for (int sweep = 1; sweep <= sweeps; ++sweep) {
            look();
            for (int plane = 0; plane < planes; ++plane) {
                write(plane, sweep);
                compute();
            }
#pragma omp barrier
        }
    }
    double sum = 0;
    for (int j = 0; j < rows; ++j) sum += seen[j];
    printf("seen %g, old %d\n", sum, old);
    return 0;
}
