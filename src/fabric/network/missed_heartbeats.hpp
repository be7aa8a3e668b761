#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

namespace kumiki::fabric {

/// Counts missed heartbeats. The watcher counts its own beats instead of seconds: a watcher that was itself stopped
/// (Ctrl-Z, a suspended machine) has counted no missed beats, and does not conclude on waking that all others have
/// died. The counts guard no other data, so relaxed memory order suffices.
class MissedHeartbeats {
public:
    /// `most_missed` is the number of the watcher's beats without a heartbeat after which a watched party is lost.
    MissedHeartbeats(int watched, int most_missed)
        : most_missed_(most_missed), missed_(static_cast<std::size_t>(watched)) {}

    void seen(int who) { missed_[static_cast<std::size_t>(who)].store(0, std::memory_order_relaxed); }
    void all_seen() {
        for (auto& missed : missed_) missed.store(0, std::memory_order_relaxed);
    }
    /// Counts a beat of the watcher without a heartbeat from `who`; returns whether `who` is lost.
    bool miss(int who) {
        return missed_[static_cast<std::size_t>(who)].fetch_add(1, std::memory_order_relaxed) >= most_missed_;
    }
    /// Whether more than a quarter of the tolerated beats have been missed. Then another rank speaks for the host, and
    /// the rest of the time must suffice for its first connection to the other hosts, also on a busy machine.
    bool overdue(int who) const {
        return missed_[static_cast<std::size_t>(who)].load(std::memory_order_relaxed) > most_missed_ / 4;
    }

private:
    int most_missed_;
    std::vector<std::atomic<int>> missed_; ///< the watcher's beats since the last heartbeat
};

} // namespace kumiki::fabric
