#include "bench/remote-memory/exchanges.hpp"

#include <cstring>

namespace kumiki::bench {

std::function<bool(std::uint64_t)> signal_ping_pong(Job& job, std::span<Mailbox> boxes) {
    return [&job, boxes, turn = std::uint64_t{0}](std::uint64_t count) mutable {
        bool right = true;
        over_all(boxes, count, [&](Mailbox& box) {
            Signal& signal = box.lone.signal;
            ++turn;
            if (job.rank() == 0) job.signal(1, signal, turn);
            right = job.wait(signal, Comparison::at_least, turn) == turn && right;
            if (job.rank() == 1) job.signal(0, signal, turn);
        });
        return right;
    };
}

ActivePingPong::ActivePingPong(Job& job, Signal& handled, Pair pair) : job_(job), handled_(handled), pair_(pair) {
    handler_ = job.on_message([this](int, std::span<const std::byte> payload) { handle(payload); });
}

void ActivePingPong::handle(std::span<const std::byte> payload) {
    std::uint64_t turn = 0;
    if (payload.size() == sizeof turn) std::memcpy(&turn, payload.data(), sizeof turn);
    if (job_.rank() == pair_.second) job_.send_active(pair_.first, handler_, turn);
    job_.signal(job_.rank(), handled_, turn);
}

bool ActivePingPong::play(std::uint64_t count) {
    if (!pair_.holds(job_.rank())) return true;
    const bool first = job_.rank() == pair_.first;
    bool right = true;
    for (std::uint64_t i = 0; i < count; ++i) {
        ++turn_;
        if (first) job_.send_active(pair_.second, handler_, turn_);
        const std::uint64_t seen = job_.wait(handled_, Comparison::at_least, turn_);
        // The second rank's handler answers before this thread has looked, so the next turn may also have arrived.
        right = right && (!first || seen == turn_);
    }
    return right;
}

} // namespace kumiki::bench
