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

/* Each thread fulfils the events of its neighbour's tasks, which may be in another process, and tells in an array what
 * the tasks behind these find. */
static void neighbours(void) {
    enum { most = 16, each = 30 };
    static omp_event_handle_t events[most][each];
    static int notes[most][each], ready[most];
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    for (int round = 1; round <= 3; round++) {
        const int me = omp_get_thread_num(), neighbour = (me + 1) % omp_get_num_threads();
        int slots[each], found[each], now;
        for (int i = 0; i < each; i++) {
            omp_event_handle_t event;
#pragma omp task detach(event) depend(out : slots[i]) shared(slots)
            slots[i] = i;
            events[me][i] = event;
#pragma omp task depend(in : slots[i]) shared(slots, found) firstprivate(i)
            found[i] = slots[i] + notes[me][i];
        }
#pragma omp atomic write release
        ready[me] = round;
        do {
#pragma omp atomic read acquire
            now = ready[neighbour];
        } while (now < round);
        for (int i = 0; i < each; i++) {
            notes[neighbour][i] = 100 * round + i;
            omp_fulfill_event(events[neighbour][i]);
        }
#pragma omp taskwait
        for (int i = 0; i < each; i++) wrong += found[i] != 100 * round + 2 * i;
#pragma omp barrier
    }
    printf("neighbours: %d wrong\n", wrong);
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
    neighbours();
    return 0;
}
