// What is initialised once, when the first thread of a region comes to it: static variables of functions, and what
// pthread_once and std::call_once call. An initialisation that fails is tried again. Destructors may be the first, too.
#include <cstdio>
#include <mutex>
#include <numeric>
#include <omp.h>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

constexpr int length = 1000, rounds = 20;

/// Counts how often an initialisation runs, and takes long enough for others to come meanwhile.
void note(int& count) {
#pragma omp atomic
    ++count;
    usleep(2000);
}

int tables_made = 0;

struct Table {
    std::vector<long> values;
    long direct[length];

    Table() : values(length) {
        note(tables_made);
        std::iota(values.begin(), values.end(), 0);
        for (int i = 0; i < length; ++i) direct[i] = i;
    }
    bool is_wrong() const {
        long sum = 0;
        for (int i = 0; i < length; ++i) sum += values[static_cast<std::size_t>(i)] - direct[i];
        return sum != 0 || direct[length - 1] != length - 1;
    }
};

const Table& table() {
    static const Table table;
    return table;
}

int attempts = 0;

struct FailsAtFirst {
    FailsAtFirst() {
        note(attempts);
        if (attempts == 1) throw std::runtime_error("the first attempt fails");
    }
};

void statics() {
    int wrong = 0, failed = 0;
#pragma omp parallel reduction(+ : wrong, failed)
    {
        for (int round = 0; round < rounds; ++round) wrong += table().is_wrong() ? 1 : 0;
        try {
            static const FailsAtFirst it;
        } catch (const std::runtime_error&) {
            ++failed;
        }
    }
    std::printf("static variables: made %d, wrong %d, attempts %d, failed %d\n", tables_made, wrong,
                attempts - (omp_get_max_threads() > 1 ? 1 : 0), failed);
}

pthread_once_t posix = PTHREAD_ONCE_INIT;
std::once_flag of_cpp;
int posix_calls = 0, cpp_calls = 0, cpp_attempts = 0;
long posix_values[length], cpp_values[length];

void initialize() {
    note(posix_calls);
    std::iota(posix_values, posix_values + length, 0);
}

void calls() {
    int wrong = 0, failed = 0;
#pragma omp parallel reduction(+ : wrong, failed)
    for (int round = 0; round < rounds; ++round) {
        pthread_once(&posix, initialize);
        wrong += posix_values[length - 1] != length - 1 ? 1 : 0;
        try {
            std::call_once(of_cpp, [] {
                note(cpp_attempts);
                if (cpp_attempts == 1) throw std::runtime_error("the first attempt fails");
                note(cpp_calls);
                std::iota(cpp_values, cpp_values + length, 0);
            });
            wrong += cpp_values[length - 1] != length - 1 ? 1 : 0;
        } catch (const std::runtime_error&) {
            ++failed;
        }
    }
    std::printf("calls: %d %d, attempts %d, wrong %d, failed %d\n", posix_calls, cpp_calls, cpp_attempts, wrong,
                failed);
}

template <int>
int one() {
    static const int one = omp_get_num_procs() > 0 ? 1 : 0;
    return one;
}

template <int... numbers>
int ones(int first, std::integer_sequence<int, numbers...>) {
    return first == 0 ? (one<numbers>() + ...) : (one<100 + numbers>() + ...);
}

/// Its destructor runs in exit(), when the first thread's own variables have ended already.
struct AtExit {
    AtExit() { std::printf("at the begin: %d\n", ones(0, std::make_integer_sequence<int, 100>())); }
    ~AtExit() {
        pthread_once(&posix, initialize);
        std::printf("at exit: %d, calls %d\n", ones(1, std::make_integer_sequence<int, 100>()), posix_calls);
    }
} at_exit;

} // namespace

int main() {
    statics();
    calls();
    return 0;
}
