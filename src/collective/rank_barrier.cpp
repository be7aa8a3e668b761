#include "collective/rank_barrier.hpp"

#include "wait/meeting.hpp"

namespace kumiki::collective {

bool RankBarrier::meet() {
    if (group_.on_one_host())
        return fabric_.progress().crowded() ? count(group_.host().barrier) : disseminate(barrier_);
    phase_.store(Phase::waiting, std::memory_order_relaxed); // another thread may not wait for it
    arrive();
    return wait();
}

bool RankBarrier::meet_host() { return fabric_.progress().crowded() ? count(group_.host().step) : disseminate(step_); }

bool RankBarrier::disseminate(Dissemination& barrier) {
    const std::uint64_t epoch = ++barrier.epoch;
    const auto flag = [this, flags = barrier.flags](int local, int round) -> std::atomic<std::uint64_t>& {
        return (group_.block(local).*flags)[static_cast<std::size_t>(round)].value;
    };
    return wait::disseminate(
        group_.host_rank(), group_.host_size(),
        [&](int other, int round) {
            flag(other, round).store(epoch, std::memory_order_release);
            group_.ring(other);
        },
        [&](int round) {
            // A partner may be one barrier ahead, so the comparison is >= and not ==.
            const auto& mine = flag(group_.host_rank(), round);
            return calls_.wait([&] { return mine.load(std::memory_order_acquire) >= epoch; });
        });
}

bool RankBarrier::count(wait::Gate& gate) {
    const std::uint64_t epoch = gate.arrive(group_.host_size(), [this] { group_.ring_others(); });
    return calls_.wait([&] { return gate.opened(epoch); });
}

void RankBarrier::enter() {
    arrive();
    phase_.store(Phase::entered, std::memory_order_release);
}

void RankBarrier::arrive() {
    if (group_.on_one_host()) {
        split_epoch_ = group_.host().split.arrive(group_.host_size(), [this] { group_.ring_others(); });
        return;
    }
    // Earlier puts must have arrived when the others continue. If a rank can no longer be reached, the job ends.
    fabric::Network& network = *fabric_.network();
    static_cast<void>(network.flush());
    // The last rank of the host starts the hosts' barrier, which opens the gate when it is complete.
    wait::Gate& gate = group_.host().over_hosts;
    split_epoch_ = gate.epoch.value.load(std::memory_order_relaxed) + 1;
    if (gate.arrived.value.fetch_add(1, std::memory_order_acq_rel) + 1 ==
        static_cast<std::uint64_t>(group_.host_size()))
        network.enter_barrier(group_, split_epoch_);
}

bool RankBarrier::wait() {
    const wait::Gate& gate = group_.on_one_host() ? group_.host().split : group_.host().over_hosts;
    phase_.store(Phase::waiting, std::memory_order_relaxed);
    const bool met = calls_.wait([&] { return gate.opened(split_epoch_); });
    phase_.store(Phase::none, std::memory_order_release);
    return met;
}

} // namespace kumiki::collective
