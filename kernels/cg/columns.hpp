#pragma once

#include <span>
#include <vector>

#include "kernels/cg/rows.hpp"

namespace kumiki::kernels::cg {

/// A worker's rows split by columns: those that multiply its own part of the vector, those that multiply the others'
/// parts, and of the latter those for each piece in which the parts arrive. The product with the own columns hides the
/// first piece, and the product with each piece hides the next.
struct Columns {
    Columns(const Rows& rows, std::span<const Range> pieces_of_others)
        : own(rows.only(rows.range())), others(rows.without(rows.range())) {
        for (const Range& piece : pieces_of_others) pieces.push_back(rows.only(piece));
    }

    Rows own, others;
    std::vector<Rows> pieces;
};

} // namespace kumiki::kernels::cg
