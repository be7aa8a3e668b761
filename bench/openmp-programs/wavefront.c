/* A wavefront, as in LU of the NAS parallel benchmarks: each row of a plane needs the row before it, which may be that
 * of another thread, and the threads wait for each other by flags alone. */
#include <sched.h>
#include <string.h>

#include "bench/openmp-programs/program.h"

enum { planes = 32, rows = 32, columns = 256, sweeps = 4 };
static double value[planes][rows][columns];
static int full[rows]; /* whether the row of the present plane is there for the next one */
static double expected;

static void await(const int* flag, int wanted) {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted) sched_yield();
}

static void solve_row(int plane, int row) {
    for (int i = 0; i < columns; ++i) {
        const double above = row > 0 ? value[plane][row - 1][i] : 1, before = plane > 0 ? value[plane - 1][row][i] : i;
        value[plane][row][i] = 0.5 * value[plane][row][i] + 0.25 * above + 0.25 * before;
    }
}

static void sweep_plane(int plane) {
#pragma omp for schedule(static) nowait
    for (int row = 0; row < rows; ++row) {
        if (row > 0) await(&full[row - 1], 1);
        if (row < rows - 1) await(&full[row], 0);
        solve_row(plane, row);
        if (row < rows - 1) __atomic_store_n(&full[row], 1, __ATOMIC_RELEASE);
        if (row > 0) __atomic_store_n(&full[row - 1], 0, __ATOMIC_RELEASE);
    }
}

static double sum(void) {
    double all = 0;
    for (int plane = 0; plane < planes; ++plane)
        for (int row = 0; row < rows; ++row)
            for (int i = 0; i < columns; ++i) all += value[plane][row][i];
    return all;
}

int program_prepare(const char* variant) {
    for (int times = 0; times < sweeps; ++times)
        for (int plane = 0; plane < planes; ++plane)
            for (int row = 0; row < rows; ++row) solve_row(plane, row);
    expected = sum();
    return *variant == 0;
}

void program_solve(void) {
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int row = 0; row < rows; ++row)
            for (int plane = 0; plane < planes; ++plane) memset(value[plane][row], 0, sizeof value[plane][row]);
        for (int times = 0; times < sweeps; ++times) {
            for (int plane = 0; plane < planes; ++plane) sweep_plane(plane);
#pragma omp barrier
        }
    }
}

int program_is_right(void) { return sum() == expected; }
