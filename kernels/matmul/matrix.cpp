#include "kernels/matmul/matrix.hpp"

namespace kumiki::kernels::matmul {

std::uint64_t Entries::random_bits(std::size_t row, std::size_t column) const {
    // The generator splitmix64, used for one number of its sequence.
    std::uint64_t bits = seed_ + (static_cast<std::uint64_t>(row) << 32 | column) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

void Entries::fill_by_columns(Range rows, Range columns, double* to) const {
    for (std::size_t column = columns.begin; column < columns.end; ++column)
        for (std::size_t row = rows.begin; row < rows.end; ++row) *to++ = at(row, column);
}

void Entries::fill_by_rows(Range rows, Range columns, double* to) const {
    for (std::size_t row = rows.begin; row < rows.end; ++row)
        for (std::size_t column = columns.begin; column < columns.end; ++column) *to++ = at(row, column);
}

} // namespace kumiki::kernels::matmul
