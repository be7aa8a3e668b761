#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "collective/call_log.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::collective {

/// The barrier of the ranks of a group, plain and split-phase. The functions return false if other ranks are in another
/// collective (CallLog::wait).
class RankBarrier {
public:
    RankBarrier(fabric::Group& group, CallLog& calls) : fabric_(group.fabric()), group_(group), calls_(calls) {}

    /// Everything that a rank did before it entered is visible to every rank that has left.
    bool meet();
    /// The same for the ranks of this host only, within a collective.
    bool meet_host();

    /// Split-phase: announces that this rank has arrived, and returns at once.
    void enter();
    /// Waits until all ranks have arrived.
    bool wait();
    // What the rank's other threads may ask at any time, to find out that they must not call collectives now. Acquire
    // order: a thread that finds that the wait has ended comes after it.
    bool entered() const { return phase_.load(std::memory_order_acquire) == Phase::entered; }
    bool waiting() const { return phase_.load(std::memory_order_acquire) == Phase::waiting; }

private:
    enum class Phase : std::uint8_t { none, entered, waiting };
    using Flags = std::array<wait::Flag, wait::most_rounds>;
    /// Where a rank reads and is told of one of its two barriers, and how often it has entered that.
    struct Dissemination {
        Flags fabric::shm::MemberBlock::* flags;
        std::uint64_t epoch = 0;
    };
    void arrive();
    bool disseminate(Dissemination& barrier);
    bool count(wait::Gate& gate);

    fabric::Fabric& fabric_;
    fabric::Group& group_;
    CallLog& calls_;
    // They are separate, like the gates: a rank in a barrier does not meet ranks that are inside another collective.
    Dissemination barrier_{&fabric::shm::MemberBlock::barrier};
    Dissemination step_{&fabric::shm::MemberBlock::step};
    std::uint64_t split_epoch_ = 0;
    std::atomic<Phase> phase_{Phase::none};
};

} // namespace kumiki::collective
