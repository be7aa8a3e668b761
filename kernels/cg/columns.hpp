#pragma once

#include <span>
#include <vector>

#include "kernels/cg/rows.hpp"

namespace kumiki::kernels::cg {

/// A worker's rows once more by columns: those that meet its own part of the vector, those that meet the others', and
/// of these the ones that meet each piece in which they come. The product with the own columns hides the first piece,
/// that with each piece the next.
struct Columns {
    Columns(const Rows& rows, std::span<const Range> pieces_of_others)
        : own(rows.only(rows.range())), others(rows.without(rows.range())) {
        for (const Range& piece : pieces_of_others) pieces.push_back(rows.only(piece));
    }

    Rows own, others;
    std::vector<Rows> pieces;
};

} // namespace kumiki::kernels::cg
