#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "bench/common/pair.hpp"
#include "bench/remote-memory/chain.hpp"
#include "bench/remote-memory/mailbox.hpp"
#include "kumiki/kumiki.hpp"

// Kumiki's small operations between two ranks. Each function below performs the calling rank's part in them
// (loops.hpp). Ranks outside the pair take no part.

namespace kumiki::bench {

/// 8 bytes beside their signal or apart from it, in each direction; the receiver reads the data.
template <class Slot>
std::function<bool(std::uint64_t)> put_ping_pong(Job& job, std::span<Mailbox> boxes, Slot Mailbox::* member,
                                                 Pair pair = {}) {
    return [&job, boxes, member, pair, turn = std::uint64_t{0}](std::uint64_t count) mutable {
        if (!pair.holds(job.rank())) return true;
        bool right = true;
        const bool first = job.rank() == pair.first;
        const int peer = pair.other(job.rank());
        over_all(boxes, count, [&](Mailbox& box) {
            Slot& slot = box.*member;
            ++turn;
            if (first) job.put_signal(peer, &slot.data, {&turn, 1}, slot.signal, turn);
            job.wait(slot.signal, Comparison::at_least, turn);
            right = right && slot.data == turn;
            if (!first) job.put_signal(peer, &slot.data, {&turn, 1}, slot.signal, turn);
        });
        return right;
    };
}

/// A signal of 8 bytes in each direction.
std::function<bool(std::uint64_t)> signal_ping_pong(Job& job, std::span<Mailbox> boxes);

/// Active messages of 8 bytes, which the second rank's handler answers. Constructing it is collective. Both ranks wait
/// for a signal that their own handlers raise, and run these handlers while they wait.
class ActivePingPong {
public:
    ActivePingPong(Job& job, Signal& handled, Pair pair = {});
    ActivePingPong(const ActivePingPong&) = delete;
    ActivePingPong& operator=(const ActivePingPong&) = delete;

    bool play(std::uint64_t count);

private:
    void handle(std::span<const std::byte> payload);

    Job& job_;
    Signal& handled_; ///< the last payload
    Pair pair_;
    int handler_ = 0;
    std::uint64_t turn_ = 0;
};

} // namespace kumiki::bench
