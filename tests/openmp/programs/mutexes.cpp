// Mutexes and condition variables of the C library and of C++, in variables, on the heap and on a stack, which the
// threads of a region share.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <omp.h>
#include <pthread.h>
#include <thread>
#include <vector>

namespace {

constexpr int rounds = 50;

pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
std::mutex of_cpp;
std::recursive_mutex recursive;

void mutexes() {
    long first = 0, second = 0, third = 0, tried = 0, depth = 0;
    std::mutex on_stack;
    const auto on_heap = std::make_unique<std::mutex>();
#pragma omp parallel
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&plain);
        first += i;
        pthread_mutex_unlock(&plain);
        {
            const std::lock_guard lock(of_cpp);
            second += i;
        }
        {
            const std::scoped_lock both(on_stack, *on_heap);
            third += i;
        }
        {
            const std::lock_guard outer(recursive);
            const std::lock_guard inner(recursive);
            depth++;
        }
        if (std::unique_lock lock(on_stack, std::try_to_lock); lock) tried++;
    }
    const int threads = omp_get_max_threads();
    std::printf("mutexes %ld %ld %ld %ld %d\n", first / threads, second / threads, third / threads, depth / threads,
                tried > 0);
}

// Each thread takes its turn, and wakes the others.
void turns() {
    std::mutex mutex;
    std::condition_variable changed;
    int turn = 0;
    std::vector<int> order;
    order.reserve(1000);
#pragma omp parallel
    for (int round = 0; round < 10; round++) {
        std::unique_lock lock(mutex);
        const int mine = round * omp_get_num_threads() + omp_get_thread_num();
        changed.wait(lock, [&] { return turn == mine; });
        order.push_back(mine);
        turn++;
        changed.notify_all();
    }
    int right = 0;
    for (int i = 0; i < static_cast<int>(order.size()); i++) right += order[static_cast<std::size_t>(i)] == i;
    std::printf("turns %d\n", right - 10 * omp_get_max_threads());
}

void limits() {
    std::mutex mutex;
    std::condition_variable never, soon;
    bool set = false;
    int in_vain = 0, in_time = 0;
#pragma omp parallel reduction(+ : in_vain, in_time)
    {
        {
            std::unique_lock lock(mutex);
            if (never.wait_for(lock, std::chrono::milliseconds(10), [] { return false; })) in_vain++;
        }
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            const std::lock_guard lock(mutex);
            set = true;
            soon.notify_all();
        } else {
            std::unique_lock lock(mutex);
            if (soon.wait_for(lock, std::chrono::minutes(1), [&] { return set; })) in_time++;
        }
    }
    std::printf("limits %d %d\n", in_vain, in_time - omp_get_max_threads());
}

std::condition_variable of_all;

/// One of several threads that add to `turn` one after the other.
void take_turns(int number, int threads, int& turn, std::mutex& mutex, std::condition_variable& condition) {
    for (int i = 0; i < rounds; i++) {
        std::unique_lock lock(mutex);
        condition.wait(lock, [&] { return turn % threads == number; });
        turn++;
        condition.notify_all();
    }
}

/// Threads of the program itself, whose mutex lies on the stack of one of them.
void own_threads() {
    int turn = 0;
    std::thread first([&turn] {
        std::mutex mutex;
        const auto take = [&](int number) { take_turns(number, 3, turn, mutex, of_all); };
        std::thread second(take, 1), third(take, 2);
        take(0);
        second.join();
        third.join();
    });
    first.join();
    std::printf("own threads %d\n", turn);
}

/// The same the other way round: the condition variable lies there, and the mutex is one that all processes see.
void own_conditions() {
    int turn = 0;
    bool in_vain = true;
    std::thread first([&turn, &in_vain] {
        std::condition_variable condition;
        const auto take = [&](int number) { take_turns(number, 2, turn, of_cpp, condition); };
        std::thread second(take, 1);
        take(0);
        second.join();
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
        std::unique_lock lock(of_cpp);
        in_vain = condition.wait_until(lock, end, [] { return false; }) || std::chrono::steady_clock::now() < end;
    });
    first.join();
    std::printf("own conditions %d %d\n", turn, in_vain);
}

/// Leaving a mutex that nobody has entered is a mistake that does nothing.
void left_twice() {
    static std::mutex mutex;
    for (int round = 0; round < 2; ++round) {
        mutex.lock();
        mutex.unlock();
        mutex.unlock();
    }
    std::printf("left twice, free %d\n", mutex.try_lock());
    mutex.unlock();
}

} // namespace

int main() {
    mutexes();
    left_twice();
    turns();
    limits();
    own_threads();
    own_conditions();
    return 0;
}
