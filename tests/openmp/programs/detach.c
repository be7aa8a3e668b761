/* Tasks that end when the program fulfils their event. */
#include <omp.h>
#include <stdio.h>

int main(void) {
    int value = 0, after = 0, wrong = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < 100; round++) {
        omp_event_handle_t event;
        value = after = 0;
#pragma omp task detach(event) depend(out : value) shared(value)
#pragma omp atomic write
        value = 1;
#pragma omp task depend(in : value) shared(value, after)
        after = value;
#pragma omp task shared(value) firstprivate(event)
        {
#pragma omp atomic write
            value = 2;
            omp_fulfill_event(event);
        }
#pragma omp taskwait
        wrong += after != 1 && after != 2;
    }
    printf("wrong %d\n", wrong);
    return 0;
}
