// Single constructs alone between barriers, several in a row as a kind of sections, and both in turn.
#include <omp.h>
#include <stdio.h>

enum { rounds = 200 };
static int executed[6][rounds], seen_late;

static int wrong(int which) {
    int count = 0;
    for (int i = 0; i < rounds; ++i) count += executed[which][i] != 1;
    return count;
}

int main(void) {
    long sum = 0;
#pragma omp parallel reduction(+ : sum, seen_late)
    for (int i = 0; i < rounds; ++i) {
        int given;
#pragma omp single
        executed[0][i] += 1;
        seen_late += executed[0][i] != 1;
        if (i % 3 != 0) { // so that in some rounds several constructs lie between two barriers
#pragma omp single nowait
            executed[1][i] += 1;
        }
        if (i % 5 != 0) {
#pragma omp single nowait
            executed[2][i] += 1;
        }
#pragma omp single copyprivate(given)
        {
            executed[3][i] += 1;
            given = i;
        }
        sum += given;
#pragma omp for schedule(dynamic) nowait
        for (int part = 0; part < 4; ++part) sum += part;
#pragma omp single nowait
        executed[4][i] += 1;
    }
    for (int i = 0; i < rounds; ++i) { // regions, whose ends are barriers, too
#pragma omp parallel
#pragma omp single nowait
        executed[5][i] += 1;
    }
    const int threads = omp_get_max_threads();
    printf("wrong: %d %d %d %d %d %d, late: %d, sum: %d\n", wrong(0), wrong(1) - (rounds + 2) / 3,
           wrong(2) - rounds / 5, wrong(3), wrong(4), wrong(5), seen_late,
           sum == (long)threads * rounds * (rounds - 1) / 2 + rounds * 6);
    return 0;
}
