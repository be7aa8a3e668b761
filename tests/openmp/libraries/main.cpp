// A program without OpenMP, of which two libraries have it: one directly, one because it uses the other. A third one
// has nothing to do with them.
#include <cstdio>
#include <vector>

#include "apart.hpp"
#include "core.hpp"

int main() {
    apart::take_signals();
    std::vector<double> values(10000);
    std::vector<long> numbers(10000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<double>(i % 100);
        numbers[i] = static_cast<long>(i * 7919 % 1009);
    }
    std::printf("weighted sum: %.1f\n", core::weighted_sum(values));
    for (const long count : core::histogram(numbers, 5)) std::printf("%ld ", count);
    std::printf("\ncounted apart: %ld\n", core::count_apart(1000, 20));
    std::printf("handed on: %ld\n", core::hand_on(42));
    std::printf("weighted squares: %.3f\n", core::weighted_sum(front::squares(4000)));
    for (long value = 1; value <= 10; ++value) core::remember(value);
    std::printf("remembered: %ld\n", core::remember(0));
    return 0;
}
