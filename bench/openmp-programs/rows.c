/* Where pages and iterations are, and what it costs if they are elsewhere: sweeps over 256 rows of 8 KiB, which one
 * thread has initialized. Variants: static and dynamic loops (chunks of 4 rows), and uneven: a dynamic loop in which
 * the upper half of the threads is at half speed. They sleep 400 us for each row, and the others 200 us, so that it
 * does not matter what else the processors do. */
#include <omp.h>
#include <string.h>
#include <time.h>

#include "bench/openmp-programs/program.h"

enum { rows = 256, columns = 1024, visits = 64 };
static double field[rows][columns];
static void (*sweep)(void);
static int sweeps, done;

/* Counts in each number how often it was visited: so nothing that is left out, or done twice, stays hidden. */
static void work(double* row) {
    for (int k = 0; k < visits; ++k)
        for (int j = 0; j < columns; ++j) row[j] += 1;
}

static void static_sweep(void) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < rows; ++i) work(field[i]);
}

static void dynamic_sweep(void) {
#pragma omp parallel for schedule(dynamic, 4)
    for (int i = 0; i < rows; ++i) work(field[i]);
}

static void uneven_sweep(void) {
#pragma omp parallel for schedule(dynamic, 4)
    for (int i = 0; i < rows; ++i) {
        const int upper = omp_get_thread_num() >= (omp_get_num_threads() + 1) / 2;
        const struct timespec length = {0, upper ? 400000 : 200000};
        nanosleep(&length, 0);
        work(field[i]);
    }
}

int program_prepare(const char* variant) {
    const struct {
        const char* name;
        void (*sweep)(void);
        int sweeps;
    } variants[] = {{"static", static_sweep, 10}, {"dynamic", dynamic_sweep, 10}, {"uneven", uneven_sweep, 2}};
    for (int i = 0; i < 3; ++i)
        if (strcmp(variant, variants[i].name) == 0) {
            sweep = variants[i].sweep;
            sweeps = variants[i].sweeps;
        }
    if (!sweep) return 0;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) field[i][j] = i;
    return 1;
}

void program_solve(void) {
    for (int i = 0; i < sweeps; ++i) sweep();
    done += sweeps;
}

int program_is_right(void) {
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            if (field[i][j] != i + (double)visits * done) return 0;
    return 1;
}
