#include "linpack/generator.hpp"

namespace kumiki::linpack {

namespace {

// Knuth's multiplier for 64 bits, with which HPL makes its matrices.
constexpr std::uint64_t multiplier = 6364136223846793005U;
constexpr std::uint64_t increment = 1;
constexpr double two_to_the_64 = 18446744073709551616.0;

double element(std::uint64_t state) { return 0.5 - static_cast<double>(state) / two_to_the_64; }

} // namespace

Generator::Generator(std::size_t rows, std::uint64_t seed) : rows_(rows), seed_(seed), next_column_(jump_over(rows)) {}

/// Repeated squaring: a jump over 2s steps is twice a jump over s.
Generator::Jump Generator::jump_over(std::uint64_t steps) {
    const auto after = [](Jump second, Jump first) {
        return Jump{second.multiplier * first.multiplier, second(first.increment)};
    };
    Jump whole{1, 0};
    for (Jump part{multiplier, increment}; steps != 0; steps /= 2, part = after(part, part))
        if (steps % 2 == 1) whole = after(part, whole);
    return whole;
}

void Generator::fill(std::size_t row, std::size_t column, std::size_t count, double* out) const {
    // HPL takes one step from its seed before the first number.
    std::uint64_t state = jump_over(1 + row + column * rows_)(seed_);
    for (std::size_t i = 0; i < count; ++i, state = next_column_(state)) out[i] = element(state);
}

} // namespace kumiki::linpack
