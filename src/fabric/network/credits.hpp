#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

namespace kumiki::fabric {

/// Credit-based flow control: how many active messages may be in flight to each rank. Messages for which the inbox has
/// no room wait in the receiver's memory, and must not accumulate without limit when its handlers are slow. So the
/// receiver returns credit for the messages it has taken, as the Maestro paper's reserved areas are returned (2.2).
class Credits {
public:
    static constexpr std::uint64_t window = 256;

    explicit Credits(int ranks) : to_(static_cast<std::size_t>(ranks)), from_(static_cast<std::size_t>(ranks)) {}

    /// Takes credit for one more message to that rank; returns false when the message has to wait. Threads that call it
    /// at the same moment may each exceed the window by one.
    bool take(int rank) {
        Sent& to = to_[static_cast<std::size_t>(rank)];
        if (to.sent.load(std::memory_order_relaxed) - to.taken.load(std::memory_order_relaxed) >= window) return false;
        to.sent.fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    /// That rank reports that it has taken `taken` messages in total. Returns false when that is impossible. Not
    /// thread-safe.
    bool give_back(int rank, std::uint64_t taken) {
        Sent& to = to_[static_cast<std::size_t>(rank)];
        if (taken < to.taken.load(std::memory_order_relaxed) || taken > to.sent.load(std::memory_order_relaxed))
            return false;
        to.taken.store(taken, std::memory_order_relaxed);
        return true;
    }

    /// Counts one more message of that rank that was taken. Returns the total when it is time to report it. Not
    /// thread-safe.
    std::optional<std::uint64_t> taken(int source) {
        const std::uint64_t count = ++from_[static_cast<std::size_t>(source)];
        return count % (window / 4) == 0 ? std::optional(count) : std::nullopt;
    }

private:
    struct Sent {
        std::atomic<std::uint64_t> sent{0}, taken{0};
    };
    std::vector<Sent> to_;            ///< by rank
    std::vector<std::uint64_t> from_; ///< by rank
};

} // namespace kumiki::fabric
