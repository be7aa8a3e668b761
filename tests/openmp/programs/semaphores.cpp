// Read-write locks, mutexes with a time limit, spin locks, semaphores and barriers of the C library and of C++, which
// the threads of a region share.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <limits>
#include <mutex>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>

namespace {

constexpr int rounds = 40, length = 1024;
constexpr auto a_moment = std::chrono::milliseconds(20);

long value[length]; // all the same, outside of what a lock guards

/// Values that differ from the first one.
int torn_values() {
    return static_cast<int>(std::count_if(value, value + length, [](long each) { return each != value[0]; }));
}

void write(long step) {
    for (long& each : value) each += step;
}

std::shared_mutex shared;
std::shared_timed_mutex timed_shared;

void read_write_locks() {
    int torn = 0, together = 0;
    std::fill(value, value + length, 0);
#pragma omp parallel reduction(+ : torn)
    for (int i = 0; i < rounds; ++i) {
        if (i % 4 == 0) {
            const std::lock_guard lock(shared);
            write(1);
        } else {
            const std::shared_lock lock(shared);
            torn += torn_values();
        }
    }
    // All read at the same time, or they would wait for each other for ever.
#pragma omp parallel
    {
        const std::shared_lock lock(shared);
#pragma omp barrier
#pragma omp atomic
        ++together;
        if (shared.try_lock()) std::printf("a writer beside readers\n");
#pragma omp barrier
    }
    int in_vain = 0;
#pragma omp parallel reduction(+ : in_vain)
    {
#pragma omp master
        timed_shared.lock_shared();
#pragma omp barrier
        if (timed_shared.try_lock_for(a_moment)) ++in_vain;
        if (!timed_shared.try_lock_shared_for(a_moment)) ++in_vain;
        else timed_shared.unlock_shared();
#pragma omp barrier
#pragma omp master
        timed_shared.unlock_shared();
    }
    const int threads = omp_get_max_threads();
    std::printf("read-write locks: torn %d, written %ld, together %d, in vain %d\n", torn, value[0] / threads,
                together - threads, in_vain);
}

std::timed_mutex timed;
pthread_spinlock_t spin;

void other_locks() {
    long guarded = 0, spun = 0;
    int in_vain = 0;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
#pragma omp parallel reduction(+ : in_vain)
    {
        for (int i = 0; i < rounds; ++i) {
            if (timed.try_lock_for(std::chrono::minutes(1))) {
                ++guarded;
                timed.unlock();
            }
            pthread_spin_lock(&spin);
            ++spun;
            pthread_spin_unlock(&spin);
        }
#pragma omp barrier
#pragma omp master
        timed.lock();
#pragma omp barrier
        if (omp_get_thread_num() != 0 && timed.try_lock_for(a_moment)) ++in_vain;
#pragma omp barrier
#pragma omp master
        timed.unlock();
    }
    pthread_spin_destroy(&spin);
    const int threads = omp_get_max_threads();
    std::printf("other locks: %ld %ld, in vain %d\n", guarded / threads, spun / threads, in_vain);
}

sem_t full, empty;

void semaphores() {
    int old = 0, left = 0;
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 1);
#pragma omp parallel
    {
        const int me = omp_get_thread_num(), last = omp_get_num_threads() - 1;
        for (int round = 1; last > 0 && round <= rounds; ++round) {
            if (me == last) {
                sem_wait(&empty);
                std::fill(value, value + length, round);
                sem_post(&full);
            } else if (me == 0) {
                sem_wait(&full);
                if (value[0] != round) ++old;
                old += torn_values();
                sem_post(&empty);
            }
        }
    }
    sem_getvalue(&empty, &left);
    timespec end{};
    clock_gettime(CLOCK_REALTIME, &end);
    std::printf("semaphores: old %d, left %d, none %d, in vain %d\n", old, left, sem_trywait(&full) == -1,
                sem_timedwait(&full, &end) == -1);
}

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t monotonic;
bool is_set = false;

timespec in_seconds(clockid_t clock, time_t seconds) {
    timespec end{};
    clock_gettime(clock, &end);
    end.tv_sec += seconds;
    return end;
}

/// By a clock of their own, and until a time that never comes.
void waits_with_an_end() {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&monotonic, &attributes);
    int too_early = 0, after_end = 0;
#pragma omp parallel reduction(+ : too_early)
    {
        const timespec end = in_seconds(CLOCK_MONOTONIC, 3600), never{std::numeric_limits<time_t>::max(), 0};
        if (omp_get_thread_num() == omp_get_num_threads() - 1) {
            pthread_mutex_lock(&mutex);
            is_set = true;
            pthread_cond_broadcast(&monotonic);
            pthread_mutex_unlock(&mutex);
        } else {
            pthread_mutex_lock(&mutex);
            while (!is_set)
                if (pthread_cond_timedwait(&monotonic, &mutex, &end) != 0) ++too_early;
            pthread_mutex_unlock(&mutex);
            if (pthread_mutex_timedlock(&mutex, &never) != 0) ++too_early;
            else pthread_mutex_unlock(&mutex);
        }
    }
    pthread_mutex_lock(&mutex);
    const timespec past = in_seconds(CLOCK_MONOTONIC, -1);
    if (pthread_cond_timedwait(&monotonic, &mutex, &past) == ETIMEDOUT) ++after_end;
    pthread_mutex_unlock(&mutex);
    std::printf("waits with an end: too early %d, after their end %d\n", too_early, after_end);
}

pthread_barrier_t barrier;

void barriers() {
    int wrong = 0, serial = 0;
    pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(omp_get_max_threads()));
#pragma omp parallel reduction(+ : wrong, serial)
    {
        const int me = omp_get_thread_num(), threads = omp_get_num_threads();
        for (int round = 1; round <= rounds; ++round) {
            for (int i = me; i < length; i += threads) value[i] = round;
            if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
            wrong += torn_values() + (value[0] != round ? 1 : 0);
            pthread_barrier_wait(&barrier);
        }
    }
    pthread_barrier_destroy(&barrier);
    std::printf("barriers: wrong %d, serial %d\n", wrong, serial);
}

} // namespace

int main() {
    read_write_locks();
    other_locks();
    semaphores();
    waits_with_an_end();
    barriers();
    return 0;
}
