#include "collective/rank_barrier.hpp"

#include "wait/meeting.hpp"

namespace kumiki::collective {

void RankBarrier::meet() {
    if (fabric_.size() == 1) return;
    if (fabric_.crowded()) count();
    else disseminate();
}

void RankBarrier::disseminate() {
    const std::uint64_t epoch = ++epoch_;
    const auto flag = [this](int rank, int round) -> std::atomic<std::uint64_t>& {
        return fabric_.block(rank).barrier[static_cast<std::size_t>(round)].value;
    };
    wait::disseminate(
        fabric_.rank(), fabric_.size(),
        [&](int other, int round) {
            flag(other, round).store(epoch, std::memory_order_release);
            fabric_.ring(other);
        },
        [&](int round) {
            // A partner may be one barrier ahead: hence >= and not ==.
            const auto& mine = flag(fabric_.rank(), round);
            fabric_.wait([&] { return mine.load(std::memory_order_acquire) >= epoch; });
        });
}

void RankBarrier::count() {
    wait::Gate& gate = fabric_.header().barrier;
    const std::uint64_t epoch = gate.arrive(fabric_.size(), [this] { ring_all(); });
    fabric_.wait([&] { return gate.opened(epoch); });
}

void RankBarrier::enter() {
    split_epoch_ = fabric_.header().split.arrive(fabric_.size(), [this] { ring_all(); });
    entered_ = true;
}

void RankBarrier::wait() {
    fabric_.wait([&] { return fabric_.header().split.opened(split_epoch_); });
    entered_ = false;
}

void RankBarrier::ring_all() {
    for (int rank = 0; rank < fabric_.size(); ++rank)
        if (rank != fabric_.rank()) fabric_.ring(rank);
}

} // namespace kumiki::collective
