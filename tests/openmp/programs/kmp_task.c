// Calls of LLVM's interface for tasks that clang before version 16 makes in its own way: a task without a
// routine stands for a taskwait with nowait, and the address -1 for all memory.
#include <stdint.h>
#include <stdio.h>

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

int main(void) {
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
