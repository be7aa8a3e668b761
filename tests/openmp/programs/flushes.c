// Loops that wait for a plain variable and contain a flush, as pipelines of older programs do. Nothing but the flush
// tells that the thread wants to see what others have written, and whoever sets the variable may be at the next
// barrier.
#include <omp.h>
#include <stdio.h>

enum { apart = 1024, steps = 8, fresh_steps = 100, spins = 20 * 1000 * 1000 };

static int flags[64 * apart]; // on pages of their own, as is what they announce
static long results[64 * apart];
static int fresh_flags[fresh_steps][64 * apart]; // a step's are touched in that step only

/// Each thread goes on with what the one before it has left; the last one goes to the barrier at once.
static void hand_on(int me, long step) {
    if (me > 0) {
        while (flags[(me - 1) * apart] == 0) {
#pragma omp flush
        }
    }
    results[me * apart] = (me > 0 ? results[(me - 1) * apart] : 0) + step;
    flags[me * apart] = 1;
}

/// The same in a loop that does something else, too, which is not taken for one that waits: only its flush tells.
static void hand_on_and_count(int me, long step) {
    unsigned long passes = 0;
    if (me > 0) {
        while (flags[(me - 1) * apart] == 0) {
            ++passes;
#pragma omp flush
        }
    }
    results[me * apart] = (me > 0 ? results[(me - 1) * apart] : 0) + step + (passes == ~0UL);
#pragma omp flush
    flags[me * apart] = 1;
#pragma omp flush
}

/// A variable that is set long before anybody looks: the look before the first pass of the loop finds it.
static void find_it_set(int me, int threads) {
    if (me < threads - 1) {
        results[me * apart] = me + 1;
        flags[me * apart] = 1;
        return;
    }
    long sum = 0;
    for (int each = 0; each < threads - 1; ++each) sum += results[each * apart]; // its pages are here from now on
    for (volatile int spin = 0; spin < spins; ++spin) {}
    for (int each = 0; each < threads - 1; ++each) {
        while (flags[each * apart] == 0) {
#pragma omp flush
        }
        sum += 1000 * results[each * apart];
    }
    results[me * apart] = sum - sum % 1000;
}

static void clear(int me) {
#pragma omp barrier
    flags[me * apart] = 0;
    results[me * apart] = 0;
#pragma omp barrier
}

/// Adds what the last thread has got in all steps.
static void repeat(int me, int threads, void (*hand)(int me, long step), long* sum) {
    for (long step = 1; step <= steps; ++step) {
        clear(me);
        hand(me, step);
#pragma omp barrier
        if (me == threads - 1)
#pragma omp atomic
            *sum += results[me * apart];
    }
}

/// Flags that their threads have touched for the first time right before the barrier, which decides where they belong.
/// Many other pages come first there, so processes that have left it look at flags while others are at that.
static void hand_on_fresh(int me, int threads, long* passed) {
    for (int step = 0; step < fresh_steps; ++step) {
        int* const flags_of_step = &fresh_flags[step][(64 - threads) * apart];
        for (int page = me; page < 64; page += threads) fresh_flags[step][page * apart] = 0;
#pragma omp barrier
        if (me > 0) {
            while (flags_of_step[(me - 1) * apart] == 0) {
#pragma omp flush
            }
        }
        flags_of_step[me * apart] = 1;
#pragma omp barrier
        if (me == threads - 1) ++*passed;
    }
}

int main(void) {
    long handed = 0, counted = 0, found = 0, passed = 0;
#pragma omp parallel
    {
        const int me = omp_get_thread_num(), threads = omp_get_num_threads();
        repeat(me, threads, hand_on, &handed);
        repeat(me, threads, hand_on_and_count, &counted);
        hand_on_fresh(me, threads, &passed);
        clear(me);
        find_it_set(me, threads);
#pragma omp barrier
        if (me == threads - 1) found = results[me * apart];
    }
    printf("handed on: %ld, %ld\nfresh: %ld\nfound: %ld\n", handed, counted, passed, found);
    return 0;
}
