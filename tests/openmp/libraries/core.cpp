#include "core.hpp"

#include <cstdio>
#include <map>
#include <omp.h>
#include <string>

namespace core {
namespace {

/// What its constructor makes lies in the heap, and threads of all processes read it.
const std::map<int, double> weights = [] {
    std::map<int, double> made;
    for (int key = 0; key < 8; ++key) made[key] = key + 0.5;
    return made;
}();

/// Its destructor tells what all have remembered.
struct Memory {
    std::string name = "what the library, whose name is too long to lie in the string itself, remembers";
    long sum = 0;
    Memory() { std::printf("%s begins\n", name.c_str()); }
    ~Memory() { std::printf("%s: %ld\n", name.c_str(), sum); }
} memory;

long apart = 0;
#pragma omp threadprivate(apart)

constexpr int pages = 1024;
volatile int flags[64 * pages];
long handed[64 * pages];

} // namespace

double weighted_sum(const std::vector<double>& values) {
    double sum = 0;
    const auto count = static_cast<long>(values.size());
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < count; ++i) sum += values[i] * weights.at(static_cast<int>(i % 8));
    return sum;
}

std::vector<long> histogram(const std::vector<long>& values, int kinds) {
    std::vector<long> counts(kinds);
    const auto count = static_cast<long>(values.size());
#pragma omp parallel for
    for (long i = 0; i < count; ++i) {
#pragma omp atomic
        ++counts[values[i] % kinds];
    }
    return counts;
}

long count_apart(long begin, int steps) {
    long sum = 0;
    apart = begin;
#pragma omp parallel copyin(apart) reduction(+ : sum)
    {
        for (int step = 0; step < steps; ++step) ++apart;
        sum += apart - begin;
    }
    long threads = 1;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    return sum / threads;
}

long hand_on(long first) {
    long last = 0;
    for (int thread = 0; thread < 64; ++thread) flags[thread * pages] = 0;
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        if (me > 0)
            while (flags[(me - 1) * pages] == 0) {}
        handed[me * pages] = me > 0 ? handed[(me - 1) * pages] : first;
#pragma omp flush
        flags[me * pages] = 1;
        if (me == omp_get_num_threads() - 1) last = handed[me * pages];
    }
    return last;
}

long remember(long value) {
#pragma omp parallel
#pragma omp single
    memory.sum += value;
    return memory.sum;
}

} // namespace core
