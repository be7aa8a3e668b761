#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "wait/meeting.hpp"

namespace kumiki::fabric {

/// One host's part in the barrier between hosts: a dissemination barrier in which the arrival of a message triggers
/// each step. So the thread that receives messages performs the steps, and the ranks touch the barrier once (COMPaS
/// paper, Fig. 3). Not thread-safe.
class HostsBarrier {
public:
    /// Tells a host that this host has reached `round` of barrier number `epoch`.
    using Tell = std::function<void(int host, int round, std::uint64_t epoch)>;
    /// Barrier number `epoch` is complete.
    using Done = std::function<void(std::uint64_t epoch)>;

    HostsBarrier(int hosts, int own, Tell tell, Done done)
        : hosts_(hosts), own_(own), tell_(std::move(tell)), done_(std::move(done)) {}

    /// All ranks of this host have entered barrier number `epoch`. A repeated call does nothing.
    void enter(std::uint64_t epoch) {
        if (epoch <= entered_) return;
        entered_ = epoch;
        advance();
    }
    /// Host `from` has reached `round` of barrier number `epoch`. Returns false when that is impossible: it would not
    /// tell this host, or has told it already, or this host is two barriers behind.
    bool heard(int from, std::uint64_t round, std::uint64_t epoch) {
        if (round >= heard_.size() || 1 << round >= hosts_) return false;
        auto& latest = heard_[round];
        if ((from + (1 << round)) % hosts_ != own_ || epoch <= latest || epoch > entered_ + 1) return false;
        latest = epoch;
        advance();
        return true;
    }
    /// Whether it is possible that all ranks of this host have entered barrier number `epoch`.
    bool can_enter(std::uint64_t epoch) const { return epoch <= passed_ + 1; }

private:
    void advance() {
        while (passed_ < entered_) {
            const std::uint64_t epoch = passed_ + 1;
            const int distance = 1 << round_;
            if (distance >= hosts_) {
                passed_ = epoch;
                round_ = 0;
                done_(epoch);
                continue;
            }
            if (!std::exchange(told_, true)) tell_((own_ + distance) % hosts_, round_, epoch);
            // Less-than rather than unequal, because the partner may be one barrier ahead.
            if (heard_[static_cast<std::size_t>(round_)] < epoch) return;
            ++round_;
            told_ = false;
        }
    }

    int hosts_, own_;
    Tell tell_;
    Done done_;
    std::uint64_t entered_ = 0, passed_ = 0;
    int round_ = 0;
    bool told_ = false; ///< whether the partner of this round has been told
    std::array<std::uint64_t, wait::most_rounds> heard_{};
};

} // namespace kumiki::fabric
