#pragma once

#include <cstddef>
#include <cstdint>

namespace kumiki::linpack {

/// The matrix of HPL: element (i, j) of the N x (N + 1) matrix [A | b] is number j * N + i of one sequence of
/// pseudo-random numbers, a linear congruential one on 64 bits. Any rank can therefore make any element by itself.
class Generator {
public:
    static constexpr std::uint64_t usual_seed = 100;

    /// The matrix with `rows` rows.
    explicit Generator(std::size_t rows, std::uint64_t seed = usual_seed);

    /// Writes elements (row, column) .. (row, column + count - 1), each in (-0.5, 0.5].
    void fill(std::size_t row, std::size_t column, std::size_t count, double* out) const;

private:
    /// state -> multiplier * state + increment: any number of steps of the sequence at once.
    struct Jump {
        std::uint64_t multiplier, increment;
        std::uint64_t operator()(std::uint64_t state) const { return multiplier * state + increment; }
    };
    static Jump jump_over(std::uint64_t steps);

    std::size_t rows_;
    std::uint64_t seed_;
    Jump next_column_;
};

} // namespace kumiki::linpack
