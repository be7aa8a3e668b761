// Atomic variables for which the compiler knows no instruction, so that it calls libatomic: a structure, 16 bytes, and
// a long double that other threads find whole.
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>

enum { rounds = 60 };

typedef struct {
    long count, sum, checks;
} Tally;

static _Atomic Tally tally;
static _Atomic __int128 wide;
static _Atomic long double pair;
static _Atomic Tally mailbox;

static void add(long value) {
    Tally before = atomic_load(&tally), after;
    do {
        after = (Tally){before.count + 1, before.sum + value, before.checks ^ value};
    } while (!atomic_compare_exchange_weak(&tally, &before, after));
}

int main(void) {
    int torn = 0, taken = 0;
#pragma omp parallel reduction(+ : torn, taken)
    {
        for (long i = 0; i < rounds; ++i) {
            add(i);
            atomic_fetch_add(&wide, ((__int128)1 << 64) + i);
            atomic_fetch_xor(&wide, 0);
            atomic_store(&pair, (long double)i / 3);
            torn += atomic_load(&pair) >= rounds;
            const Tally sent = {1, i, i}, found = atomic_exchange(&mailbox, sent);
            torn += found.sum != found.checks;
            taken += found.count != 0;
        }
    }
    const Tally all = atomic_load(&tally);
    const __int128 both = atomic_load(&wide);
    const int threads = omp_get_max_threads();
    printf("tally %ld %ld\n", all.count / threads, all.sum / threads);
    printf("wide %ld %ld\n", (long)(both >> 64) / threads, (long)both / threads);
    printf("torn %d, not taken %d\n", torn, threads * rounds - taken);
    return 0;
}
