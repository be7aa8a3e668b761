/* Loops: every schedule, both directions, several types and steps, nowait, ordered, lastprivate, collapse. */
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int hits[4096];
static void check(const char* name, int count) {
    int wrong = 0;
    for (int i = 0; i < 4096; i++) wrong += hits[i] != (i < count);
    printf("%s %s\n", name, wrong ? "wrong" : "right");
    memset(hits, 0, sizeof hits);
}
static void hit(int i) {
#pragma omp atomic
    hits[i]++;
}

/* A pragma in a macro, whose arguments are replaced first. */
#define PRAGMA(...) PRAGMA_TEXT(__VA_ARGS__)
#define PRAGMA_TEXT(...) _Pragma(#__VA_ARGS__)

#define LOOP(name, ...)                                                                                                 \
    PRAGMA(omp parallel for schedule(__VA_ARGS__)) for (int i = 0; i < 1000; i++) hit(i);                               \
    check(name " combined", 1000);                                                                                      \
    PRAGMA(omp parallel) {                                                                                              \
        PRAGMA(omp for schedule(__VA_ARGS__) nowait) for (long i = 999; i >= 0; i -= 3) hit((int)(i / 3));              \
        PRAGMA(omp for schedule(__VA_ARGS__)) for (unsigned long long i = 7; i < 2007; i += 2)                        \
            hit((int)(i - 7) / 2 + 334);                                                                                \
    }                                                                                                                   \
    check(name " twice", 1334);                                                                                         \
    PRAGMA(omp parallel for schedule(__VA_ARGS__)) for (unsigned long long i = 500; i > 0; i--) hit((int)i - 1);        \
    check(name " down", 500);                                                                                           \
    {                                                                                                                   \
        long sum = 0, last = 0;                                                                                         \
        PRAGMA(omp parallel for ordered schedule(__VA_ARGS__) lastprivate(last)) for (int i = 0; i < 200; i++) {        \
            PRAGMA(omp ordered) sum = (sum * 31 + i) % 1000003;                                                         \
            last = i;                                                                                                   \
        }                                                                                                               \
        printf(name " ordered %ld last %ld\n", sum, last);                                                              \
        long far = 0;                                                                                                   \
        PRAGMA(omp parallel for schedule(__VA_ARGS__) lastprivate(last) linear(far : 3)) for (int i = 0; i < 40; i++) { \
            if (i < 4) usleep(200); /* the threads that have the end help the others */                                 \
            last = i;                                                                                                   \
            far += 3;                                                                                                   \
        }                                                                                                               \
        printf(name " last %ld far %ld\n", last, far);                                                                  \
    }

/* Only the last chunk is shorter than the schedule says. */
static void lengths(void) {
    enum { count = 1000, size = 7 };
    static int whose[count];
    int split = 0, shorter = 0;
#pragma omp parallel for schedule(dynamic, size)
    for (int i = 0; i < count; i++) whose[i] = omp_get_thread_num();
    for (int i = 0; i < count; i++) split += i % size != 0 && whose[i] != whose[i - 1];
#pragma omp parallel for schedule(guided, size)
    for (int i = 0; i < count; i++) whose[i] = omp_get_thread_num();
    for (int i = 1, begin = 0; i < count; i++)
        if (whose[i] != whose[i - 1]) {
            shorter += i - begin < size;
            begin = i;
        }
    printf("split %d, shorter %d\n", split, shorter);
}

int main(void) {
    lengths();
    LOOP("static", static)
    LOOP("static,7", static, 7)
    LOOP("dynamic", dynamic)
    LOOP("dynamic,5", dynamic, 5)
    LOOP("guided", guided)
    LOOP("guided,4", guided, 4)
    LOOP("auto", auto)
    LOOP("monotonic", monotonic : dynamic, 2)
    LOOP("monotonic guided", monotonic : guided, 3)
    const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
    for (int k = 0; k < 4; k++)
        for (int chunk = 0; chunk < 4; chunk += 3) {
            omp_set_schedule(kinds[k], chunk);
            LOOP("runtime", runtime)
        }
    int none = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : none)
    for (int i = 5; i < 5; i++) none++;
#pragma omp parallel for schedule(guided) reduction(+ : none)
    for (long i = LONG_MAX - 10; i < LONG_MAX - 1; i += 2) none++;
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : none)
    for (unsigned long long i = ULLONG_MAX - 20; i < ULLONG_MAX - 3; i += 4) none++;
    printf("ends %d\n", none);
#pragma omp parallel for collapse(3) schedule(dynamic, 4)
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 10; j++)
            for (int k = 0; k < 10; k++) hit(100 * i + 10 * j + k);
    check("collapse", 1000);
    for (int round = 0; round < 300; round++) {
#pragma omp parallel
        for (int part = 0; part < 5; part++) {
#pragma omp for schedule(dynamic, 1) nowait
            for (int i = 0; i < 3; i++) hit(part * 3 + i);
        }
    }
    int wrong = 0;
    for (int i = 0; i < 15; i++) wrong += hits[i] != 300;
    printf("many nowait %s\n", wrong ? "wrong" : "right");
    return 0;
}
