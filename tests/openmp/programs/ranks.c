// What is hard where the threads are in several processes: variables, heap, the stacks of all threads, threadprivate
// variables, atomic instructions of the compiler, threads that wait for a flag, and signals.
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { length = 20000, rounds = 20 };
static double table[length];
static int own = 1;
#pragma omp threadprivate(own)
static char text[64] = "initial";

static int digits[4] = {1, 2, 3, 4}, none[3];
#pragma omp threadprivate(digits, none)

struct link {
    int value;
    struct link* next;
};

// The compiler makes atomic instructions of these.
static void atomics(void) {
    long count = 0, product = 1;
    int bits = 0;
    double most = 0;
#pragma omp parallel reduction(max : most)
    {
        for (int i = 0; i < 200; i++) {
#pragma omp atomic
            count += 2;
#pragma omp atomic
            bits ^= 1 << (i % 7);
        }
#pragma omp atomic
        product *= 3;
        most = omp_get_thread_num();
    }
    for (int i = 0; i < omp_get_max_threads(); i++) product /= 3;
    printf("atomics %ld %d %ld %.0f\n", count / omp_get_max_threads(), bits, product, most - omp_get_max_threads() + 1);
}

// Adjacent bytes and odd borders: threads of different ranks write to one page, and to one word.
static void neighbours(void) {
    static unsigned char bytes[3 * 4096 + 5];
    for (int round = 1; round <= rounds; round++) {
#pragma omp parallel for schedule(static, 1)
        for (int i = 0; i < (int)sizeof bytes; i++) bytes[i] = (unsigned char)(bytes[i] + i + round);
    }
    unsigned sum = 0;
    for (int i = 0; i < (int)sizeof bytes; i++) sum = sum * 31 + bytes[i];
    printf("neighbours %u\n", sum);
}

// Memory that one thread takes and another one uses and frees.
static void heap(void) {
    struct link* list = NULL;
#pragma omp parallel
    for (int i = 0; i < 50; i++) {
        struct link* const link = malloc(sizeof *link);
        link->value = i;
#pragma omp critical(list)
        {
            link->next = list;
            list = link;
        }
    }
    int sum = 0, links = 0;
    while (list != NULL) {
        struct link* const next = list->next;
        sum += list->value;
        links++;
        free(list);
        list = next;
    }
    char** const texts = calloc(100, sizeof *texts);
#pragma omp parallel for schedule(dynamic, 3)
    for (int i = 0; i < 100; i++) {
        texts[i] = strdup("text number");
        texts[i] = realloc(texts[i], 4000);
        sprintf(texts[i] + strlen(texts[i]), " %d", i);
    }
    size_t all = 0;
    for (int i = 0; i < 100; i++) {
        all += strlen(texts[i]);
        free(texts[i]);
    }
    free(texts);
    printf("heap %d %d %zu\n", sum / omp_get_max_threads(), links / omp_get_max_threads(), all);
}

// Variables on stacks, and of threads.
static void stacks(void) {
    int local[100], sum = 0;
    for (int i = 0; i < 100; i++) local[i] = i;
    own = 5;
#pragma omp parallel copyin(own)
    {
        int mine[10], *theirs = NULL;
        for (int i = 0; i < 10; i++) mine[i] = own * i;
#pragma omp single copyprivate(theirs)
        theirs = mine;
        int part = 0;
        for (int i = 0; i < 10; i++) part += theirs[i];
#pragma omp for schedule(static, 7)
        for (int i = 0; i < 100; i++) local[i] += part;
        own += omp_get_thread_num();
#pragma omp critical
        sum += part;
    }
    int owns = 0;
#pragma omp parallel reduction(+ : owns)
    owns += own - omp_get_thread_num();
    int all = 0;
    for (int i = 0; i < 100; i++) all += local[i];
    printf("stacks %d %d %d\n", all, sum / omp_get_max_threads(), owns / omp_get_max_threads());
}

// Each thread waits for the one before it.
static void pipeline(void) {
    static int done[64];
    static long result;
    for (int i = 0; i < 64; i++) done[i] = 0;
    result = 1;
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        if (me > 0) {
            int ready = 0;
            while (!ready) {
#pragma omp flush
                ready = done[me - 1];
            }
        }
#pragma omp flush
        result = result * 3 + 1;
#pragma omp flush
        done[me] = 1;
#pragma omp flush
    }
    long expected = 1;
    for (int i = 0; i < omp_get_max_threads(); i++) expected = expected * 3 + 1;
    printf("pipeline %d\n", result == expected);
}

static void constructs(void) {
    int order = 0, good = 0, sections = 0, singles = 0;
#pragma omp parallel
    for (int round = 0; round < rounds; round++) {
#pragma omp for ordered schedule(dynamic, 2)
        for (int i = 0; i < 30; i++) {
#pragma omp ordered
            {
                good += order % 30 == i;
                order++;
            }
        }
#pragma omp sections nowait
        {
#pragma omp section
#pragma omp atomic
            sections++;
#pragma omp section
#pragma omp atomic
            sections++;
        }
#pragma omp single nowait
#pragma omp atomic
        singles++;
    }
    printf("constructs %d %d %d %d\n", order, good, sections, singles);
}

/// All threads block all signals, those of faults among them.
static void blocked(void) {
    double sum = 0;
    for (int i = 0; i < length; i++) table[i] = i;
#pragma omp parallel reduction(+ : sum)
    {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before);
#pragma omp for
        for (int i = 0; i < length; i++) sum += table[i];
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    printf("blocked %.0f\n", sum);
}

// Each thread but the first one begins with the values of the program's file, whatever main has written before.
static void copies(void) {
    int initial = 0, kept = 0, got = 0;
    digits[1] = none[2] = 20;
#pragma omp parallel reduction(+ : initial)
    {
        const int me = omp_get_thread_num();
        initial += digits[1] == (me == 0 ? 20 : 2) && none[2] == (me == 0 ? 20 : 0) && digits[3] == 4;
        digits[0] = 100 + me;
    }
#pragma omp parallel copyin(none) reduction(+ : kept, got)
    {
        kept += digits[0] == 100 + omp_get_thread_num() && none[2] == 20;
#pragma omp single copyprivate(digits)
        digits[2] = digits[0] = 7;
        got += digits[2] == 7 && digits[0] == 7;
    }
    const int all = omp_get_max_threads();
    printf("copies %d %d %d\n", initial - all, kept - all, got - all);
}

int main(int argc, char** argv) {
    table[length - 1] = argc;
    for (int round = 0; round < rounds; round++) {
#pragma omp parallel for schedule(guided)
        for (int i = 0; i < length; i++) table[i] += i % 13 + round + (int)strlen(argv[0]) * 0;
    }
    double sum = 0;
    for (int i = 0; i < length; i++) sum += table[i];
    printf("data %.0f %s\n", sum, text);
#pragma omp parallel
#pragma omp master
    strcpy(text, "changed");
    printf("%s\n", text);
    atomics();
    neighbours();
    heap();
    stacks();
    pipeline();
    constructs();
    copies();
    blocked();
    return 0;
}
