#pragma once

namespace kumiki::bench {

/// The two ranks of a run that measure with each other; the other ranks take no part.
struct Pair {
    int first = 0; ///< its clock counts
    int second = 1;

    constexpr bool holds(int rank) const { return rank == first || rank == second; }
    constexpr int other(int rank) const { return rank == first ? second : first; }
};

} // namespace kumiki::bench
