#pragma once

#include <cstdint>

#include "openmp/other_ranks.hpp"

namespace kumiki::openmp {

/// The generators of random numbers that libraries have once in each process (Seeds::Generator). Threads of one process
/// take turns at them; those of several processes would all get the same numbers. So each rank but the first begins
/// with a seed of its own, which depends on that of the program. One thread of a rank uses this: the one that leads.
class RandomNumbers {
public:
    explicit RandomNumbers(int rank) : rank_(rank) {}

    /// At rank 0: the program, in the thread that runs main, has given a generator this seed.
    void note(Seeds::Generator generator, std::uint64_t seed);
    /// For the next region.
    const Seeds& seeds() const { return seeds_; }
    /// At ranks other than 0: seeds anew what rank 0 has seeded since the last call; the first one seeds all.
    void take_in(const Seeds& seeds);

private:
    const int rank_;
    Seeds seeds_; ///< at other ranks: those that have been taken in
    bool began_ = false;
};

} // namespace kumiki::openmp
