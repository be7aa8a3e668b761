/* Tasks that end when the program fulfils their event. */
#include <omp.h>
#include <stdio.h>

/* A task that never begins, because its group is cancelled, does not wait for its event, which it would have fulfilled
 * itself. One whose event is fulfilled afterwards is of no use any more, but that does no harm. */
static void discarded(void) {
#pragma omp parallel num_threads(1)
#pragma omp taskgroup
    {
        omp_event_handle_t first, own, late;
        int value = 0, other = 0;
#pragma omp task detach(first) depend(out : value, other)
        {}
#pragma omp task detach(own) depend(in : value)
        omp_fulfill_event(own);
#pragma omp task detach(late) depend(in : other)
        {}
#pragma omp task
        {
#pragma omp cancel taskgroup
        }
        omp_fulfill_event(first);
#pragma omp taskwait depend(in : value)
        omp_fulfill_event(late);
    }
    printf("discarded\n");
}

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
    discarded();
    return 0;
}
