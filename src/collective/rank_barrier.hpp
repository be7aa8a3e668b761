#pragma once

#include <cstdint>

#include "error/result.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::collective {

/// The barrier of the ranks, plain and split-phase.
class RankBarrier {
public:
    explicit RankBarrier(fabric::Fabric& fabric) : fabric_(fabric) {}

    /// What a rank did before it came is visible to every rank that has left.
    void meet();
    /// The same among the ranks of this host alone.
    void meet_host();

    /// Split-phase: says that this rank has come, returns at once.
    void enter();
    /// Waits until all have come.
    void wait();
    bool entered() const { return entered_; }

private:
    void disseminate();
    void count();
    /// The one who opened a gate wakes all who sleep before it.
    void ring_all();

    fabric::Fabric& fabric_;
    std::uint64_t epoch_ = 0;
    std::uint64_t split_epoch_ = 0;
    bool entered_ = false;
};

} // namespace kumiki::collective
