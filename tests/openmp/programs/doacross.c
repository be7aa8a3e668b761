/* Loops whose iterations wait for others by number (ordered(n)). */
#include <omp.h>
#include <stdio.h>

static long a[40][30], b[300];

/* Iteration 16 waits for 15 while it has a lock that 15 wants as soon as it has posted, as the last of many. */
static long with_lock(void) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    long sum = 0;
    for (int round = 0; round < 50; round++) {
#pragma omp parallel for ordered(1) schedule(static, 16)
        for (int i = 0; i < 32; i++) {
            if (i == 16) omp_set_lock(&lock);
#pragma omp ordered depend(sink : i - 1)
            b[i] = i > 0 ? b[i - 1] + i : round;
#pragma omp ordered depend(source)
            if (i == 15) omp_set_lock(&lock);
            if (i == 15 || i == 16) {
                sum += i;
                omp_unset_lock(&lock);
            }
        }
        sum += b[31];
    }
    omp_destroy_lock(&lock);
    return sum;
}

/* A pragma in a macro, whose arguments are replaced first. */
#define PRAGMA(...) PRAGMA_TEXT(__VA_ARGS__)
#define PRAGMA_TEXT(...) _Pragma(#__VA_ARGS__)

int main(void) {
#define ROUND(name, ...)                                                                                               \
    for (int i = 0; i < 40; i++)                                                                                       \
        for (int j = 0; j < 30; j++) a[i][j] = i + 2 * j;                                                              \
    PRAGMA(omp parallel for ordered(2) schedule(__VA_ARGS__)) for (int i = 1; i < 40; i++) for (int j = 1; j < 30;   \
                                                                                                j++) {                 \
        PRAGMA(omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1))                                            \
        a[i][j] = (a[i - 1][j] * 3 + a[i][j - 1] + a[i][j]) % 10007;                                                   \
        PRAGMA(omp ordered depend(source))                                                                             \
    }                                                                                                                  \
    printf(name " %ld\n", a[39][29]);                                                                                  \
    for (int i = 0; i < 300; i++) b[i] = i;                                                                            \
    PRAGMA(omp parallel for ordered(1) schedule(__VA_ARGS__)) for (unsigned long i = 2; i < 300; i++) {                \
        PRAGMA(omp ordered depend(sink : i - 2)) b[i] = (b[i - 2] * 5 + i) % 10007;                                    \
        PRAGMA(omp ordered depend(source))                                                                             \
    }                                                                                                                  \
    printf(name " %ld %ld\n", b[298], b[299]);
    ROUND("static", static)
    ROUND("static,1", static, 1)
    ROUND("static,5", static, 5)
    ROUND("dynamic", dynamic)
    ROUND("dynamic,3", dynamic, 3)
    ROUND("guided", guided)
    ROUND("runtime", runtime)
    printf("with a lock %ld\n", with_lock());
    return 0;
}
