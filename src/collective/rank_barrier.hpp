#pragma once

#include <cstdint>

#include "collective/call_log.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::collective {

/// The barrier of the ranks of a group, plain and split-phase. False: others are in another collective (CallLog::wait).
class RankBarrier {
public:
    RankBarrier(fabric::Group& group, CallLog& calls) : fabric_(group.fabric()), group_(group), calls_(calls) {}

    /// What a rank did before it came is visible to every rank that has left.
    bool meet();
    /// The same among the ranks of this host alone, within a collective.
    bool meet_host();

    /// Split-phase: says that this rank has come, returns at once.
    void enter();
    /// Waits until all have come.
    bool wait();
    bool entered() const { return entered_; }

private:
    bool disseminate();
    bool count(wait::Gate& gate);

    fabric::Fabric& fabric_;
    fabric::Group& group_;
    CallLog& calls_;
    std::uint64_t epoch_ = 0;
    std::uint64_t split_epoch_ = 0;
    bool entered_ = false;
};

} // namespace kumiki::collective
