/* A loop whose iterations differ by more than a factor of a hundred, dealt out dynamically: how many points of a grid
 * belong to Mandelbrot's set. Threads share nothing but a sum. */
#include "bench/openmp-programs/program.h"

enum { size = 320, most = 1000 };
static long inside, expected;

static long inside_row(int i) {
    long found = 0;
    for (int j = 0; j < size; ++j) {
        const double a = -2.1 + 2.8 * j / size, b = -1.4 + 2.8 * i / size;
        double x = 0, y = 0;
        int steps = 0;
        while (steps < most && x * x + y * y < 4) {
            const double next = x * x - y * y + a;
            y = 2 * x * y + b;
            x = next;
            ++steps;
        }
        found += steps == most;
    }
    return found;
}

/* One thread alone finds what is right. */
int program_prepare(const char* variant) {
    expected = 0;
    for (int i = 0; i < size; ++i) expected += inside_row(i);
    return *variant == 0;
}

void program_solve(void) {
    inside = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : inside)
    for (int i = 0; i < size; ++i) inside += inside_row(i);
}

int program_is_right(void) { return inside == expected; }
