// Calls of LLVM's interface for loops as flang makes them: from 0, by unsigned numbers, to -1 if there are no
// iterations, and with as many passes as the bounds that come back differ, and one.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

typedef struct {
    int32_t reserved, flags, more, length;
    const char* names;
} Source;

extern int32_t __kmpc_global_thread_num(Source*);
extern void __kmpc_for_static_init_4u(Source*, int32_t, int32_t, int32_t*, uint32_t*, uint32_t*, int32_t*, int32_t,
                                      int32_t);
extern void __kmpc_for_static_init_8u(Source*, int32_t, int32_t, int32_t*, uint64_t*, uint64_t*, int64_t*, int64_t,
                                      int64_t);
extern void __kmpc_for_static_fini(Source*, int32_t);

static Source source;

static uint32_t passes_4(uint32_t iterations) {
    int32_t last = 0, stride = 1, thread = __kmpc_global_thread_num(&source);
    uint32_t lower = 0, upper = iterations - 1;
    __kmpc_for_static_init_4u(&source, thread, 34, &last, &lower, &upper, &stride, 1, 0);
    __kmpc_for_static_fini(&source, thread);
    return upper - lower + 1;
}

static uint64_t passes_8(uint64_t iterations) {
    int32_t last = 0, thread = __kmpc_global_thread_num(&source);
    int64_t stride = 1;
    uint64_t lower = 0, upper = iterations - 1;
    __kmpc_for_static_init_8u(&source, thread, 34, &last, &lower, &upper, &stride, 1, 0);
    __kmpc_for_static_fini(&source, thread);
    return upper - lower + 1;
}

/* Nobody has chosen a schedule: LLVM's runtime then deals out blocks. */
static int threads_fall(void) {
    int threads[100], falls = 0;
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < 100; i++) threads[i] = omp_get_thread_num();
    for (int i = 1; i < 100; i++) falls += threads[i] < threads[i - 1];
    return falls + threads[0] + (threads[99] != omp_get_max_threads() - 1);
}

int main(void) {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    printf("schedule %d, %d; not in blocks: %d\n", (int)kind, chunk, threads_fall());
    for (unsigned iterations = 0; iterations < 5; ++iterations) {
        uint64_t four = 0, eight = 0;
#pragma omp parallel reduction(+ : four, eight)
        {
            four += passes_4(iterations);
            eight += passes_8(iterations);
        }
        printf("%u: %llu %llu\n", iterations, (unsigned long long)four, (unsigned long long)eight);
    }
}
