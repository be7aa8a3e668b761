// C++: objects in tasks and reductions, exceptions inside regions, threads of the program beside OpenMP, and child
// processes.
#include <omp.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> alive{0};
struct Counted {
    std::string text = "text that is too long for the small buffer";
    Counted() { ++alive; }
    Counted(const Counted& other) : text(other.text) { ++alive; }
    ~Counted() { --alive; }
};

static int sum_to(int n) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 3)
    for (int i = 1; i <= n; ++i) sum += i;
    return sum;
}

static int at_start = sum_to(50); // before main

// The destructor of a key of the program, which comes after that of the runtime's key, and uses the memory that it
// freed.
static int at_end;
static void count_at_end(void*) {
    for (std::size_t size = 64; size <= 8192; size += 64)
        if (void* const block = std::malloc(size)) std::memset(block, 0x5a, size); // is lost
    at_end = 100 * omp_get_level();
#pragma omp parallel num_threads(3) reduction(+ : at_end)
    at_end += omp_get_num_threads();
}

int main() {
    std::atomic<int> letters{0};
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 100; ++i) {
        Counted counted;
#pragma omp task firstprivate(counted) shared(letters)
        letters += static_cast<int>(counted.text.size());
    }
    std::printf("letters %d alive %d\n", letters.load(), alive.load());

    int caught = 0;
#pragma omp parallel for reduction(+ : caught)
    for (int i = 0; i < 50; ++i) {
        try {
            if (i % 2 == 0) throw std::runtime_error("even");
        } catch (const std::exception&) {
            ++caught;
        }
    }
    std::printf("caught %d at start %d\n", caught, at_start);

    std::vector<int> results(4);
    for (int round = 0; round < 3; ++round) {
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) threads.emplace_back([&, t] { results[t] = sum_to(100 + t); });
        for (auto& thread : threads) thread.join();
    }
    std::printf("threads %d %d %d %d\n", results[0], results[1], results[2], results[3]);

    pthread_key_t key;
    pthread_key_create(&key, &count_at_end);
    std::thread([&] {
        pthread_setspecific(key, &key);
        results[0] = sum_to(10);
    }).join();
    std::printf("at the end of a thread %d\n", at_end);

    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        // libgomp hangs in a child that starts a region of several threads, so only one is asked for here.
        int one = 0;
#pragma omp parallel num_threads(1) reduction(+ : one)
        one += 7;
        _exit(one);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("child %d again %d\n", WEXITSTATUS(status), sum_to(10));
}
