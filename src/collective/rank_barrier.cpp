#include "collective/rank_barrier.hpp"

#include "wait/meeting.hpp"

namespace kumiki::collective {

bool RankBarrier::meet() {
    if (fabric_.network() == nullptr) return fabric_.crowded() ? count(fabric_.header().barrier) : disseminate();
    enter();
    return wait();
}

bool RankBarrier::meet_host() { return fabric_.crowded() ? count(fabric_.header().step) : disseminate(); }

bool RankBarrier::disseminate() {
    const std::uint64_t epoch = ++epoch_;
    const auto flag = [this](int rank, int round) -> std::atomic<std::uint64_t>& {
        return fabric_.host_block(rank).barrier[static_cast<std::size_t>(round)].value;
    };
    return wait::disseminate(
        fabric_.host_rank(), fabric_.host_size(),
        [&](int other, int round) {
            flag(other, round).store(epoch, std::memory_order_release);
            fabric_.ring_on_host(other);
        },
        [&](int round) {
            // A partner may be one barrier ahead: hence >= and not ==.
            const auto& mine = flag(fabric_.host_rank(), round);
            return calls_.wait([&] { return mine.load(std::memory_order_acquire) >= epoch; });
        });
}

bool RankBarrier::count(wait::Gate& gate) {
    const std::uint64_t epoch = gate.arrive(fabric_.host_size(), [this] { ring_all(); });
    return calls_.wait([&] { return gate.opened(epoch); });
}

void RankBarrier::enter() {
    entered_ = true;
    fabric::Network* const network = fabric_.network();
    if (network == nullptr) {
        split_epoch_ = fabric_.header().split.arrive(fabric_.host_size(), [this] { ring_all(); });
        return;
    }
    // What was put before must be there when the others go on. A rank that cannot be reached any more ends the job.
    static_cast<void>(network->flush());
    // The last rank of the host starts the hosts' barrier, which opens the gate when it is complete.
    wait::Gate& gate = fabric_.header().job;
    split_epoch_ = gate.epoch.value.load(std::memory_order_relaxed) + 1;
    if (gate.arrived.value.fetch_add(1, std::memory_order_acq_rel) + 1 ==
        static_cast<std::uint64_t>(fabric_.host_size()))
        network->enter_barrier(split_epoch_);
}

bool RankBarrier::wait() {
    const wait::Gate& gate = fabric_.network() == nullptr ? fabric_.header().split : fabric_.header().job;
    entered_ = false;
    return calls_.wait([&] { return gate.opened(split_epoch_); });
}

void RankBarrier::ring_all() {
    for (int local = 0; local < fabric_.host_size(); ++local)
        if (local != fabric_.host_rank()) fabric_.ring_on_host(local);
}

} // namespace kumiki::collective
