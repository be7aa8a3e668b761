#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kumiki::fabric {

/// Counts the puts and signals that this rank has sent as messages, and those of them that the targets are known to
/// have carried out, because they have answered a later message. Thread-safe. A thread sees its own messages, and an
/// answer that it has waited for, in their order, for which relaxed memory order suffices.
class Unconfirmed {
public:
    explicit Unconfirmed(int ranks) : to_(static_cast<std::size_t>(ranks)) {}

    /// Whether that rank may still have to carry out a put or a signal.
    bool any(int rank) const { return confirmed(rank) < to(rank).sent.load(std::memory_order_relaxed); }
    /// Whether that rank may still have to store data.
    bool data(int rank) const { return confirmed(rank) < to(rank).last_data.load(std::memory_order_relaxed); }
    /// Called after a put or a signal has been sent, so that a question which counts it comes after it.
    void sent(int rank, bool has_data) {
        Counts& counts = to(rank);
        const std::uint64_t number = counts.sent.fetch_add(1, std::memory_order_relaxed) + 1;
        if (has_data) raise(counts.last_data, number);
    }

    /// Called before a question is sent to that rank: what the answer will confirm.
    std::uint64_t before_question(int rank) const { return to(rank).sent.load(std::memory_order_relaxed); }
    /// That question has been answered. Those of several threads may be answered in any order.
    void confirm(int rank, std::uint64_t count) { raise(to(rank).confirmed, count); }

private:
    struct Counts {
        std::atomic<std::uint64_t> sent{0}, confirmed{0};
        std::atomic<std::uint64_t> last_data{0}; ///< the number of the last message with data
    };
    Counts& to(int rank) { return to_[static_cast<std::size_t>(rank)]; }
    const Counts& to(int rank) const { return to_[static_cast<std::size_t>(rank)]; }
    std::uint64_t confirmed(int rank) const { return to(rank).confirmed.load(std::memory_order_relaxed); }
    static void raise(std::atomic<std::uint64_t>& count, std::uint64_t value) {
        std::uint64_t known = count.load(std::memory_order_relaxed);
        while (known < value && !count.compare_exchange_weak(known, value, std::memory_order_relaxed)) {}
    }

    std::vector<Counts> to_; ///< by rank
};

} // namespace kumiki::fabric
