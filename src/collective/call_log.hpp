#pragma once

#include <atomic>
#include <cstdint>

#include "error/result.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::collective {

/// Which collective of a group this rank and the others are in. Collectives of one place meet there and compare what
/// they are; but ranks in different places, one in a barrier and one in a broadcast, would wait for each other for
/// ever. So each notes where it is, and who has waited long looks at the notes of the others; between hosts the agents
/// of the leaders bring them. Only one of two such ranks need find it out: it tells all.
class CallLog {
public:
    /// Where ranks meet.
    enum class Place : std::uint8_t { exchange = 1, barrier, split_barrier };

    explicit CallLog(fabric::Group& group) : fabric_(group.fabric()), group_(group) {}

    /// This rank enters its next collective.
    void begin(Place place) {
        ++number_;
        // release: who finds the note finds this rank waiting, or about to.
        group_.own().call.store(number_ << 8 | static_cast<std::uint64_t>(place), std::memory_order_release);
    }

    /// Waits like Fabric::wait(), but returns false when that would be in vain.
    template <class Ready>
    bool wait(Ready ready) {
        bool met = false;
        const auto& differing = group_.host().differing.call;
        fabric_.progress().wait([&] { return (met = ready()) || differing.load(std::memory_order_acquire) == number_; },
                                [this] { compare(); });
        return met;
    }

    /// Whether a wait was in vain: no collective is possible any more, for some ranks have begun what others have not.
    bool broken() const {
        const std::uint64_t differing = group_.host().differing.call.load(std::memory_order_acquire);
        return differing != 0 && differing <= number_;
    }
    /// What wait() found.
    Failure difference() const;

private:
    void compare();

    fabric::Fabric& fabric_;
    fabric::Group& group_;
    std::uint64_t number_ = 0; ///< of the collective that this rank is in; all ranks of the group count alike
};

} // namespace kumiki::collective
