// A thread cancels its region before it comes to what the others are in: barriers, ordered loops, loops with
// dependences, loops that are cancelled themselves. They must not wait for it, and what follows must be right. The
// argument is a seed. (libgomp waits for ever in some of these regions.)
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { regions = 60, steps = 4 };

static void order(int* counted) {
#pragma omp for ordered schedule(dynamic, 1)
    for (int i = 0; i < 20; i++) {
#pragma omp ordered
        ++*counted;
    }
}

static void depend(int* row) {
#pragma omp for ordered(1) schedule(static, 2)
    for (int i = 1; i < 40; i++) {
#pragma omp ordered depend(sink : i - 1)
        row[i] = row[i - 1] + 1;
#pragma omp ordered depend(source)
    }
}

static void count(int last, int* counted) {
#pragma omp for schedule(dynamic, 2)
    for (int i = 0; i < 100; i++) {
        if (i == last) {
#pragma omp cancel for
        }
#pragma omp cancellation point for
#pragma omp atomic
        ++*counted;
    }
}

static int wrong_afterwards(void) {
    int sum = 0, turns = 0, singles = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < 30; i++) sum += i;
#pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < 10; i++) {
#pragma omp ordered
        turns = turns * 2 + i;
    }
#pragma omp parallel
#pragma omp single
    singles++;
    return (sum != 435) + (turns != 1013) + (singles != 1);
}

int main(int count_of_arguments, char** arguments) {
    int wrong = 0;
    if (count_of_arguments < 2) return printf("which seed?\n") < 0;
    srand((unsigned)atoi(arguments[1]));
    for (int region = 0; region < regions; region++) {
        const int who = rand() % omp_get_max_threads(), when = rand() % (steps + 1), kind = rand() % 4;
        int counted = 0, past = 0, rows[steps][40] = {{0}};
#pragma omp parallel
        for (int step = 0; step < steps; step++) {
            if (omp_get_thread_num() == who && step == when) {
#pragma omp cancel parallel
            }
            if (kind == 1) order(&counted);
            if (kind == 2) depend(rows[step]);
            if (kind == 3) {
                count((who * 7 + step) % 100, &counted);
#pragma omp single
                past++;
            }
#pragma omp barrier
#pragma omp cancellation point parallel
        }
        if (when == steps && kind == 1) wrong += counted != 20 * steps;
        if (when == steps && kind == 2)
            for (int step = 0; step < steps; step++) wrong += rows[step][39] != 39;
        if (when == steps && kind == 3) wrong += past != steps;
        wrong += wrong_afterwards();
    }
    printf("%d wrong in %d regions\n", wrong, regions);
    return wrong != 0;
}
