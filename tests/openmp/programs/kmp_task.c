// Calls of LLVM's interface for tasks. clang before version 16 makes two of them in its own way: a task without a
// routine stands for a taskwait with nowait, and the address -1 for all memory.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int32_t Routine(int32_t, void*);
typedef struct {
    void* shared;
    Routine* routine;
    int32_t part;
    void* more[2];
} Task;
typedef struct {
    intptr_t address;
    size_t length;
    uint8_t flags;
} Dependence;

extern int32_t __kmpc_global_thread_num(void*);
extern Task* __kmpc_omp_task_alloc(void*, int32_t, int32_t, size_t, size_t, Routine*);
extern int32_t __kmpc_omp_task(void*, int32_t, Task*);
extern void __kmpc_set_thread_limit(void*, int32_t, int32_t) __attribute__((weak)); // libomp 14 has none
extern int32_t __kmpc_omp_task_with_deps(void*, int32_t, Task*, int32_t, Dependence*, int32_t, Dependence*);

enum { tied = 1, in = 1, out = 3 };

static int32_t add_up(int32_t thread, void* task) {
    (void)thread;
    int* const numbers = ((Task*)task)->shared;
    numbers[2] = numbers[0] + numbers[1];
    return 0;
}

static void start(int* numbers, Routine* routine, Dependence dependence) {
    const int32_t thread = __kmpc_global_thread_num(NULL);
    Task* const task = __kmpc_omp_task_alloc(NULL, thread, tied, sizeof(Task), 0, routine);
    task->shared = numbers;
    __kmpc_omp_task_with_deps(NULL, thread, task, 1, &dependence, 0, NULL);
}

/* A program may know only the first three fields of a task. */
static int32_t count(int32_t thread, void* task) {
    (void)thread, (void)task;
    static int tasks;
    return ++tasks;
}
static void start_short(void) {
    const int32_t thread = __kmpc_global_thread_num(NULL);
    void* blocks[50];
    for (int i = 0; i < 50; i++) {
        blocks[i] = malloc(24);
        __kmpc_omp_task(NULL, thread, __kmpc_omp_task_alloc(NULL, thread, tied, 24, 0, count));
    }
    for (int i = 0; i < 50; i++) free(blocks[i]);
    printf("%d short tasks\n", count(0, NULL) - 1);
}

/* The clause of a target construct, which is a task of its own. */
static void limit_threads(void) {
    int threads = 0;
#pragma omp task if (0) shared(threads)
    {
        __kmpc_set_thread_limit(NULL, __kmpc_global_thread_num(NULL), 1);
#pragma omp parallel num_threads(4)
#pragma omp single
        threads = omp_get_num_threads();
    }
    printf("limited to %d\n", threads);
}

int main(void) {
    start_short();
    limit_threads();
    int numbers[3] = {0, 0, 0}, right = 0;
    for (int round = 0; round < 100; round++) {
        numbers[0] = numbers[1] = numbers[2] = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task depend(out : numbers[0])
            numbers[0] = 2;
            start(numbers, NULL, (Dependence){(intptr_t)numbers, sizeof(int), in});
#pragma omp task depend(out : numbers[1])
            numbers[1] = 3;
            start(numbers, add_up, (Dependence){-1, 0, out});
        }
        right += numbers[2] == 5;
    }
    printf("%d of 100 right\n", right);
}
