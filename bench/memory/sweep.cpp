// Compiled with -fno-tree-loop-distribute-patterns: otherwise the compiler would replace the copy loop by a call of
// memcpy.
#include "bench/memory/sweep.hpp"

#include <array>
#include <cstring>
#include <numeric>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace kumiki::bench {

double sweep_read(std::span<const double> source) {
    // So many independent sums hide the latency of an addition.
    std::array<double, sweep_step> sums{};
    for (std::size_t i = 0; i < source.size(); i += sweep_step)
        for (std::size_t j = 0; j < sweep_step; ++j) sums[j] += source[i + j];
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

void sweep_write(std::span<double> destination, double value) {
    for (double& element : destination) element = value;
}

void sweep_copy(std::span<const double> source, std::span<double> destination) {
    const double* __restrict from = source.data();
    double* __restrict to = destination.data();
    for (std::size_t i = 0; i < source.size(); ++i) to[i] = from[i];
}

void sweep_memcpy(std::span<const double> source, std::span<double> destination) {
    std::memcpy(destination.data(), source.data(), source.size_bytes());
}

#if defined(__AVX512F__)

bool has_nontemporal() { return true; }

void sweep_nontemporal(std::span<const double> source, std::span<double> destination) {
    for (std::size_t i = 0; i < source.size(); i += 8)
        _mm512_stream_pd(destination.data() + i, _mm512_load_pd(source.data() + i));
    _mm_sfence();
}

#elif defined(__SSE2__)

bool has_nontemporal() { return true; }

void sweep_nontemporal(std::span<const double> source, std::span<double> destination) {
    for (std::size_t i = 0; i < source.size(); i += 2)
        _mm_stream_pd(destination.data() + i, _mm_load_pd(source.data() + i));
    _mm_sfence();
}

#else

bool has_nontemporal() { return false; }

void sweep_nontemporal(std::span<const double> source, std::span<double> destination) {
    sweep_copy(source, destination);
}

#endif

} // namespace kumiki::bench
