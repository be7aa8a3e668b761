// Regions and tasks whose last act is a call by which threads wait for each other: compilers make a jump of it, and
// then it seems to come from the runtime, which has called the region.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>

namespace {

constexpr int rounds = 20;

std::mutex mutex;
std::shared_mutex shared;
std::condition_variable condition;
pthread_spinlock_t spin;
pthread_barrier_t barrier;
sem_t semaphore;
bool is_ready = false;
std::atomic<int> flag{0};
int begun = 0;

void locks() {
    std::mutex of_main;
    long count = 0, of_shared = 0, of_local = 0, of_spin = 0;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    for (int round = 0; round < rounds; ++round) {
#pragma omp parallel
        {
            const std::lock_guard lock(mutex);
            ++count;
        }
#pragma omp parallel
        {
            const std::lock_guard lock(shared);
            ++of_shared;
        }
#pragma omp parallel
        {
            const std::lock_guard lock(of_main);
            ++of_local;
        }
#pragma omp parallel
        {
            pthread_spin_lock(&spin);
            ++of_spin;
            pthread_spin_unlock(&spin);
        }
    }
    const long all = static_cast<long>(rounds) * omp_get_max_threads();
    std::printf("locks: %ld %ld %ld %ld too many\n", count - all, of_shared - all, of_local - all, of_spin - all);
}

void tasks() {
    long count = 0;
#pragma omp parallel
#pragma omp for
    for (int i = 0; i < rounds; ++i)
#pragma omp task shared(count)
    {
        const std::lock_guard lock(mutex);
        ++count;
    }
    std::printf("tasks: %ld\n", count);
}

void semaphores() {
    const int threads = omp_get_max_threads();
    int taken = 0;
    sem_init(&semaphore, 0, 0);
#pragma omp parallel
    sem_post(&semaphore);
    while (sem_trywait(&semaphore) == 0) ++taken;
    std::printf("semaphores: %d too many\n", taken - threads);
}

void waits_for(const bool& ready) {
    std::unique_lock lock(mutex);
    condition.wait(lock, [&] { return ready; });
}

void notifications() {
    const int last = omp_get_max_threads() - 1;
#pragma omp parallel
    {
        if (omp_get_thread_num() < last) {
            waits_for(is_ready);
        } else {
            mutex.lock();
            is_ready = true;
            mutex.unlock();
            condition.notify_all();
        }
    }
#pragma omp parallel
    {
        if (omp_get_thread_num() < last) {
            flag.wait(0);
        } else {
            flag.store(1);
            flag.notify_all();
        }
    }
    std::printf("notifications: all have come\n");
}

void barriers() {
    pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(omp_get_max_threads()));
    for (int round = 0; round < rounds; ++round)
#pragma omp parallel
        pthread_barrier_wait(&barrier);
    std::printf("barriers: all have met\n");
}

int begin() {
#pragma omp atomic
    ++begun;
    return 3;
}

void statics() {
#pragma omp parallel
    { [[maybe_unused]] static volatile int once = begin(); }
    std::printf("statics: begun %d\n", begun);
}

} // namespace

int main() {
    locks();
    tasks();
    semaphores();
    notifications();
    barriers();
    statics();
}
