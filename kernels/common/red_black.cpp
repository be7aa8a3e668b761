#include "kernels/common/red_black.hpp"

namespace kumiki::kernels {

std::size_t RedBlackTile::pitch_of(const Tile& own) {
    constexpr std::size_t lane = line_bytes / sizeof(double);
    const std::size_t pairs = own.columns.end / 2 + 1 - first_pair_of(own);
    return (pairs + lane - 1) / lane * lane;
}

RedBlackTile::RedBlackTile(const Tile& own, std::span<double> memory)
    : own_(own), first_pair_(first_pair_of(own)), pitch_(pitch_of(own)), values_(storage_length(own), memory) {
    for (auto& edge : packed_) edge.resize(own.rows.size() / 2 + 1);
}

std::span<const double> RedBlackTile::edge(Colour colour, Side side) {
    const auto [row, column, count, step] = points(colour, own_.edge(side));
    const double* const first = place(colour, row, column);
    if (side == Side::north || side == Side::south) return {first, count};
    auto& packed = packed_[side == Side::west ? 0 : 1];
    for (std::size_t k = 0; k < count; ++k) packed[k] = first[k * step];
    return {packed.data(), count};
}

void RedBlackTile::accept(Colour colour, Side side, const double* edge) {
    const auto [row, column, count, step] = points(colour, own_.beyond(side));
    double* const first = place(colour, row, column);
    if (step == 1) std::copy_n(edge, count, first);
    else
        for (std::size_t k = 0; k < count; ++k) first[k * step] = edge[k];
}

} // namespace kumiki::kernels
