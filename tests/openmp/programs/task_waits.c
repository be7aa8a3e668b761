/* What one thread waits for, another one must be able to do, whoever executes the tasks: programs that would wait for
 * ever otherwise. */
#include <omp.h>
#include <stdio.h>

static double work(int n) {
    double sum = 0;
    for (int i = 1; i <= n; i++) sum += 1.0 / i;
    return sum;
}

/* A task holds a lock while it waits for its children, and others wait for the lock. */
static void hold_lock(void) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    int done = 0;
    double total = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 30; i++) {
#pragma omp task shared(done, total, lock)
        {
            double part[4];
            if (i % 3 == 0) omp_set_lock(&lock);
#pragma omp critical
            {
                for (int j = 0; j < 4; j++) {
#pragma omp task shared(part)
                    part[j] = work(100000);
                }
#pragma omp taskwait
                for (int j = 0; j < 4; j++) total += part[j];
                done++;
            }
            if (i % 3 == 0) omp_unset_lock(&lock);
        }
    }
    omp_destroy_lock(&lock);
    printf("held %d %.3f\n", done, total);
}

/* A task has ended although a task that it has created has not, whose event its successor fulfils; or the one that has
 * waited for it. (On libgomp a thread that is alone waits for the event at once.) */
static void end_before_child(void) {
    enum { most = 30 };
    static omp_event_handle_t events[2 * most];
    int count = 0;
#pragma omp parallel if (omp_get_max_threads() > 1)
#pragma omp single
    for (int i = 0; i < most && omp_get_num_threads() > 1; i++) {
#pragma omp task shared(count) depend(out : events[i])
        {
            omp_event_handle_t event;
            const double worked = work(20000);
#pragma omp task detach(event) shared(count)
            {
#pragma omp atomic
                count++;
            }
            if (worked > 0) events[i] = event;
        }
#pragma omp task depend(in : events[i])
        omp_fulfill_event(events[i]);
#pragma omp task shared(count)
        {
#pragma omp task shared(count)
            {
                omp_event_handle_t event;
#pragma omp task detach(event) shared(count)
                {
#pragma omp atomic
                    count++;
                }
                events[most + i] = event;
            }
#pragma omp taskwait
            omp_fulfill_event(events[most + i]);
        }
    }
    printf("ended %d\n", count == 2 * most || omp_get_max_threads() == 1);
}

/* A thread tells another one by a variable what to do, and then waits for a task that ends when it is done; in a
 * taskwait, or at the barrier. */
static void tell_and_wait(int at_barrier) {
    static omp_event_handle_t event;
    static int posted;
    int rounds = 0;
    for (int round = 0; round < 50; round++) {
        posted = 0;
#pragma omp parallel
        {
            if (omp_get_thread_num() == 0) {
                omp_event_handle_t made;
#pragma omp task detach(made) shared(rounds)
                rounds++;
                event = made;
#pragma omp atomic write release
                posted = 1;
                if (!at_barrier) {
                    if (omp_get_num_threads() == 1) omp_fulfill_event(event);
#pragma omp taskwait
                }
            }
            if (omp_get_thread_num() == omp_get_num_threads() - 1 && (at_barrier || omp_get_num_threads() > 1)) {
                int found = 0;
                while (!found) {
#pragma omp atomic read acquire
                    found = posted;
                }
                omp_fulfill_event(event);
            }
        }
    }
    printf("told %d\n", rounds);
}

int main(void) {
    hold_lock();
    end_before_child();
    tell_and_wait(0);
    tell_and_wait(1);
    return 0;
}
