#pragma once

#include <atomic>
#include <cstdint>

#include "error/result.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::collective {

/// Records which collective of a group this rank is in, and compares it with those of the other ranks. Ranks whose
/// collectives meet in the same place compare their calls there. But ranks in different places, one in a barrier and
/// another in a broadcast, would wait for each other forever. So each rank notes its place, and a rank that has waited
/// for a while reads the notes of the others; between hosts the agents of the leaders pass them on. It is enough that
/// one of two such ranks detects the difference: it tells all.
class CallLog {
public:
    /// A place in which ranks meet.
    enum class Place : std::uint8_t { exchange = 1, barrier, split_barrier };

    explicit CallLog(fabric::Group& group) : fabric_(group.fabric()), group_(group) {}

    /// Called when this rank enters its next collective.
    void begin(Place place) {
        ++number_;
        // Release order: a rank that reads the note may rely on this rank being in the wait, or about to enter it.
        group_.own().call.store(number_ << 8 | static_cast<std::uint64_t>(place), std::memory_order_release);
    }

    /// Waits like Fabric::wait(), but returns false when the ranks are in different collectives, this one or an earlier
    /// one, so that the wait would never end.
    template <class Ready>
    bool wait(Ready ready) {
        bool met = false;
        fabric_.progress().wait([&] { return (met = ready()) || broken(); }, [this] { compare(); });
        return met;
    }

    /// Whether a wait has failed: no further collective is possible, because the ranks have begun different ones.
    bool broken() const {
        const std::uint64_t differing = group_.host().differing.call.load(std::memory_order_acquire);
        return differing != 0 && differing <= number_;
    }
    /// The difference that wait() detected.
    Failure difference() const;

private:
    void compare();

    fabric::Fabric& fabric_;
    fabric::Group& group_;
    std::uint64_t number_ = 0; ///< of the present collective; the same at all ranks of the group
};

} // namespace kumiki::collective
