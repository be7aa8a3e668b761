// What waits in C++20: variables of std::atomic, latches, barriers and semaphores. All of them call the kernel by
// themselves, for words in memory that threads of all processes use.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <latch>
#include <omp.h>
#include <optional>
#include <semaphore>

namespace {

constexpr int rounds = 40, length = 1024;

double value[length]; // by which round it was written last
std::atomic<int> written, taken;

int old_values(int round) {
    int old = 0;
    for (const double each : value) old += each != round ? 1 : 0;
    return old;
}

/// The last thread writes, the first one takes.
int hand_over() {
    int old = 0;
#pragma omp parallel
    {
        const int me = omp_get_thread_num(), last = omp_get_num_threads() - 1;
        if (me == 0) written = taken = 0; // which decides where their home is
#pragma omp barrier
        if (me == last) std::fill(value, value + length, 0.0);
#pragma omp barrier
        for (int round = 1; last > 0 && round <= rounds; ++round) {
            if (me == last) {
                std::fill(value, value + length, round);
                written.store(round, std::memory_order_release);
                written.notify_one();
                taken.wait(round - 1, std::memory_order_acquire);
            } else if (me == 0) {
                written.wait(round - 1, std::memory_order_acquire);
                old += old_values(round);
                taken.store(round, std::memory_order_release);
                taken.notify_all();
            }
        }
    }
    return old;
}

std::counting_semaphore<> full(0), empty(1);

int pass_through_semaphores() {
    int old = 0;
#pragma omp parallel
    {
        const int me = omp_get_thread_num(), last = omp_get_num_threads() - 1;
        for (int round = 1; last > 0 && round <= rounds; ++round) {
            if (me == last) {
                empty.acquire();
                std::fill(value, value + length, round);
                full.release();
            } else if (me == 0) {
                full.acquire();
                old += old_values(round);
                empty.release();
            }
        }
    }
    return old;
}

std::optional<std::latch> latch;
std::optional<std::barrier<>> barrier;

/// Each thread writes a part of the values, and looks at all of them when all have.
int meet() {
    int old = 0;
#pragma omp parallel reduction(+ : old)
    {
        const int me = omp_get_thread_num(), threads = omp_get_num_threads();
#pragma omp single
        {
            latch.emplace(threads);
            barrier.emplace(threads);
        }
        const auto write = [&](int round) {
            for (int i = me; i < length; i += threads) value[i] = round;
        };
        write(1);
        latch->arrive_and_wait();
        old += old_values(1);
        for (int round = 2; round <= rounds; ++round) {
            barrier->arrive_and_wait();
            write(round);
            barrier->arrive_and_wait();
            old += old_values(round);
        }
    }
    return old;
}

} // namespace

int main() {
    std::printf("atomic: old %d\n", hand_over());
    std::printf("semaphores: old %d\n", pass_through_semaphores());
    std::printf("latch and barrier: old %d\n", meet());
    std::binary_semaphore never(0);
    const auto begin = std::chrono::steady_clock::now();
    const bool got = never.try_acquire_for(std::chrono::milliseconds(30));
    const bool waited = std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(30);
    std::printf("without a release: got %d, waited %d\n", got, waited);
    return 0;
}
