/* A tree of tasks: in how many ways twelve queens can stand on a board without threatening each other. Each of the
 * first rows makes a task for every place that is still free. */
#include "bench/openmp-programs/program.h"

enum { size = 12, rows_of_tasks = 3, solutions = 14200 };
static long found;

/* `columns`, `left` and `right` have a bit for each place of this row that is threatened along a line. */
static long place(int row, unsigned columns, unsigned left, unsigned right) {
    if (row == size) return 1;
    long below[size] = {0}, sum = 0;
    for (int i = 0; i < size; ++i) {
        const unsigned queen = 1U << i;
        if ((columns | left | right) & queen) continue;
        const unsigned next_left = (left | queen) << 1, next_right = (right | queen) >> 1;
        if (row < rows_of_tasks) {
#pragma omp task shared(below)
            below[i] = place(row + 1, columns | queen, next_left, next_right);
        } else {
            below[i] = place(row + 1, columns | queen, next_left, next_right);
        }
    }
    if (row < rows_of_tasks) {
#pragma omp taskwait
    }
    for (int i = 0; i < size; ++i) sum += below[i];
    return sum;
}

int program_prepare(const char* variant) { return *variant == 0; }

void program_solve(void) {
#pragma omp parallel
#pragma omp single
    found = place(0, 0, 0, 0);
}

int program_is_right(void) { return found == solutions; }
