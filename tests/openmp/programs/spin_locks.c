// Locks of the program itself, which a thread enters by an atomic instruction and leaves by a plain store. Each has its
// page, and what it guards another one. Meanwhile the threads enter other locks, which let what was written be seen.
#include <stdatomic.h>
#include <stdio.h>

enum { rounds = 50, page = 4096 };

static _Alignas(page) atomic_flag flag;
static _Alignas(page) long by_flag;
static _Alignas(page) atomic_int word;
static _Alignas(page) long by_word;
static _Alignas(page) atomic_int attempt;
static _Alignas(page) long by_attempt;
static _Alignas(page) long total;

static void enter_word(void) {
    int open = 0;
    while (!atomic_compare_exchange_weak_explicit(&word, &open, 1, memory_order_acquire, memory_order_relaxed))
        open = 0;
}

int main(void) {
    long expected = 0, entered = 0;
#pragma omp parallel reduction(+ : expected, entered)
    for (int i = 0; i < rounds; ++i) {
        while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire)) {}
        ++by_flag;
        atomic_flag_clear_explicit(&flag, memory_order_release);
#pragma omp critical
        ++total;
        enter_word();
        ++by_word;
        atomic_store_explicit(&word, 0, memory_order_release);
        if (!atomic_exchange_explicit(&attempt, 1, memory_order_acquire)) {
            ++by_attempt;
            ++entered;
            atomic_store_explicit(&attempt, 0, memory_order_release);
        }
#pragma omp critical
        ++total;
        ++expected;
    }
    printf("locks: %s\n", by_flag == expected && by_word == expected && total == 2 * expected ? "right" : "wrong");
    printf("attempts: %s\n", by_attempt == entered ? "right" : "wrong");
    return 0;
}
