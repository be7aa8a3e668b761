// Locks that are held for long, over barriers, inside each other and in great number; and criticals inside criticals.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { many = 9000, few = 40 };

int main(void) {
    static omp_lock_t locks[many];
    static int values[many], late[few];
    for (int i = 0; i < many; i++) omp_init_lock(&locks[i]);
#pragma omp parallel
    for (int i = omp_get_thread_num(); i < few * omp_get_num_threads(); i += omp_get_num_threads()) {
        // Always in the same order, but in different ones of the threads first.
        const int first = i % few, second = first + 1;
        omp_set_lock(&locks[first]);
        omp_set_lock(&locks[second]);
        values[first]++;
        values[second]++;
        omp_unset_lock(&locks[first]);
        omp_unset_lock(&locks[second]);
    }
    int sum = 0;
    for (int i = 0; i <= few; i++) sum += values[i];
    printf("pairs %d\n", sum / omp_get_max_threads());

    // More locks than a process has numbers for; the last ones have none.
    for (int i = 0; i < many; i++) {
        omp_set_lock(&locks[i]);
        values[i] = i;
        omp_unset_lock(&locks[i]);
    }
#pragma omp parallel
    for (int i = many - 20; i < many; i++) {
        omp_set_lock(&locks[i]);
        values[i]++;
        omp_unset_lock(&locks[i]);
    }
    long all = 0;
    for (int i = many - 20; i < many; i++) all += values[i] - i;
    printf("in great number %ld\n", all / omp_get_max_threads());

    // One thread has a lock over barriers, and the others try to get it, and wait.
    int taken = 0, ready = 0;
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) omp_set_lock(&locks[0]);
#pragma omp barrier
        if (omp_get_thread_num() != 0 && omp_test_lock(&locks[0])) {
#pragma omp atomic
            taken++;
        }
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            ready = 1;
            omp_unset_lock(&locks[0]);
        } else {
            omp_set_lock(&locks[0]);
            late[omp_get_thread_num() % few] += ready;
            omp_unset_lock(&locks[0]);
        }
    }
    sum = 0;
    for (int i = 0; i < few; i++) sum += late[i];
    printf("over barriers %d %d\n", taken, omp_get_max_threads() - 1 - sum);

    int outer = 0, inner = 0;
#pragma omp parallel
    for (int i = 0; i < 30; i++) {
#pragma omp critical(outer)
        {
            outer++;
#pragma omp critical(inner)
            inner += outer;
        }
#pragma omp critical(inner)
        inner++;
    }
    printf("inside each other %d\n", outer / omp_get_max_threads());
    for (int i = 0; i < many; i++) omp_destroy_lock(&locks[i]);
    for (int i = 0; i < many; i++) omp_init_lock(&locks[i]);
#pragma omp parallel for
    for (int i = 0; i < many; i += 100) {
        omp_set_lock(&locks[i]);
        omp_unset_lock(&locks[i]);
    }
    printf("again %d\n", omp_test_lock(&locks[7]));
    return 0;
}
