// Threads print one after the other, in each way in which OpenMP orders them: whole lines, parts of lines, lines that
// are written without the C library, and so many that they fill what is between a process and its reader.
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { iterations = 24, rounds = 8 };

static void print_in_order(void) {
#pragma omp parallel for ordered schedule(static, 3)
    for (int i = 0; i < iterations; ++i) {
#pragma omp ordered
        printf("line %d\n", i);
    }
    puts("behind the region");
}

static void print_parts_in_order(void) {
#pragma omp parallel for ordered schedule(static, 3)
    for (int i = 0; i < iterations; ++i) {
#pragma omp ordered
        printf(" part %d", i);
    }
    puts(" end");
}

static void print_by_turns(void) {
#pragma omp parallel
    for (int round = 0; round < rounds; ++round) {
#pragma omp barrier
        if (omp_get_thread_num() == round % omp_get_num_threads()) printf("round %d\n", round);
    }
}

/// Threads wait for their turns at a lock.
static void print_under_lock(void) {
    int next = 0;
#pragma omp parallel
    for (int is_done = 0; !is_done;) {
#pragma omp critical
        {
            if (next < rounds && next % omp_get_num_threads() == omp_get_thread_num()) {
                char line[40];
                sprintf(line, "turn %d\n", next++);
                fflush(stdout);
                if (write(STDOUT_FILENO, line, strlen(line)) < 0) perror("write");
            }
            is_done = next == rounds;
        }
    }
}

static void print_much(void) {
    static char line[300];
    memset(line, '*', sizeof line - 1);
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < rounds; ++i) {
#pragma omp ordered
        for (int k = 0; k < 1000; ++k) printf("%d %s\n", i, line);
    }
}

int main(int count, char** arguments) {
    print_in_order();
    if (count < 2 || strcmp(arguments[1], "whole") != 0) print_parts_in_order();
    print_by_turns();
    print_under_lock();
    print_much();
    puts("at the end");
    return 0;
}
