#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "wait/meeting.hpp"

namespace kumiki::fabric {

/// The barrier between hosts, as one host's part in it: dissemination, in which each step follows from a message that
/// has come. So whoever receives messages does the steps, and the ranks touch it once (COMPaS paper, Fig. 3). Not
/// thread-safe.
class HostsBarrier {
public:
    /// Tells a host that this one has come to `round` of barrier number `epoch`.
    using Tell = std::function<void(int host, int round, std::uint64_t epoch)>;
    /// Barrier number `epoch` is complete.
    using Done = std::function<void(std::uint64_t epoch)>;

    HostsBarrier(int hosts, int own, Tell tell, Done done)
        : hosts_(hosts), own_(own), tell_(std::move(tell)), done_(std::move(done)) {}

    /// All ranks of this host have entered barrier number `epoch`; to say it twice does no harm.
    void enter(std::uint64_t epoch) {
        if (epoch <= entered_) return;
        entered_ = epoch;
        advance();
    }
    /// Host `from` has come to `round` of barrier number `epoch`. False: it cannot have, for it would not tell this
    /// host, or has told already, or this host is two barriers behind.
    bool heard(int from, std::uint64_t round, std::uint64_t epoch) {
        if (round >= heard_.size() || 1 << round >= hosts_) return false;
        auto& latest = heard_[round];
        if ((from + (1 << round)) % hosts_ != own_ || epoch <= latest || epoch > entered_ + 1) return false;
        latest = epoch;
        advance();
        return true;
    }
    /// Whether all ranks of this host can have entered barrier number `epoch` at all.
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
            // Its partner may be one barrier ahead.
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
    bool told_ = false; ///< in this round
    std::array<std::uint64_t, wait::most_rounds> heard_{};
};

} // namespace kumiki::fabric
