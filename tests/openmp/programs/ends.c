// Ways in which a program ends well.
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void at_the_end(void) {
    puts("at the end");
    fflush(stdout);
}

static void* end_in_thread(void* argument) {
    (void)argument;
    exit(0);
}

int main(int count, char** arguments) {
    const char* way = count > 1 ? arguments[1] : "return";
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += 1;
    printf("%s: %d\n", way, sum);
    fflush(stdout);
    at_quick_exit(at_the_end);
    if (strcmp(way, "_exit") == 0) _exit(0);
    if (strcmp(way, "_Exit") == 0) _Exit(0);
    if (strcmp(way, "quick_exit") == 0) quick_exit(0);
    if (strcmp(way, "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, end_in_thread, NULL);
        pthread_join(thread, NULL);
    }
    if (strcmp(way, "region") == 0) {
#pragma omp parallel
        if (omp_get_thread_num() == omp_get_num_threads() - 1) exit(0);
        return 1;
    }
    if (strcmp(way, "child") == 0) {
        const pid_t child = vfork();
        if (child == 0) {
            execl("/nothing/there", "there", (char*)NULL);
            _exit(0);
        }
#pragma omp parallel reduction(+ : sum)
        sum += 1;
        printf("%d\n", sum);
    }
    return 0;
}
