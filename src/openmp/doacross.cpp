#include <algorithm>

#include "openmp/workshare.hpp"

/// Loops with ordered(n): an iteration may wait for others, which are named by the iteration numbers of all n loops
/// (doacross). Only the outermost loop is dealt out, in parts of one thread each, and within such a part iterations end
/// in order; so one number for each part says which of its iterations are done.
namespace kumiki::openmp {
namespace {

/// How many outermost iterations one thread is sure to have at a time.
std::uint64_t part_length(const Schedule& schedule) {
    // Blocks, and the chunks of guided loops, differ in length.
    const bool in_chunks = schedule.kind == Kind::dynamic || schedule.kind == Kind::fixed;
    return in_chunks && schedule.chunk != 0 ? schedule.chunk : 1;
}

} // namespace

std::uint64_t Doacross::flat(const std::uint64_t* iteration) const {
    std::uint64_t number = iteration[0] % part;
    for (unsigned dimension = 1; dimension < dimensions; ++dimension)
        number = number * counts[dimension] + iteration[dimension];
    return number;
}

void enter_doacross(Member& me, unsigned dimensions, const std::uint64_t* counts, Schedule schedule,
                    std::uintptr_t* reductions, void** memory) {
    if (const OtherRanks* const others = me.team.others()) others->refuse("ordered(n), a loop with dependences");
    if (reductions != nullptr) begin_share_group(me);
    Workshare& entered = me.team.shares().enter(me, [&](Workshare& share) {
        share.loop = Loop{.first = 0, .step = 1, .count = counts[0], .schedule = schedule, .ordered = false};
        auto doacross = std::make_unique<Doacross>();
        doacross->dimensions = dimensions;
        doacross->counts = std::make_unique<std::uint64_t[]>(dimensions);
        std::copy_n(counts, dimensions, doacross->counts.get());
        doacross->part = part_length(schedule);
        doacross->reached = std::make_unique<std::atomic<std::uint64_t>[]>(counts[0] / doacross->part + 1);
        share.doacross = std::move(doacross);
        prepare_extras(me, share, reductions, memory);
    });
    take_extras(me, entered, reductions, memory);
    me.position = {};
}

void post(Member& me, const std::uint64_t* iteration) {
    if (me.share == nullptr || me.share->doacross == nullptr) return;
    const Doacross& doacross = *me.share->doacross;
    // release: a thread that waits for this iteration sees what this one did before it posted.
    doacross.reached[iteration[0] / doacross.part].store(doacross.flat(iteration) + 1, std::memory_order_release);
    me.team.ring();
}

void await_post(Member& me, const std::uint64_t* iteration) {
    if (me.share == nullptr || me.share->doacross == nullptr) return;
    const Workshare& share = *me.share;
    const auto& reached = share.doacross->reached[iteration[0] / share.doacross->part];
    const std::uint64_t needed = share.doacross->flat(iteration);
    wait::wait(me.team.bell(), me.team.patience(), [&] {
        return reached.load(std::memory_order_acquire) > needed || me.team.cancelled() ||
               share.cancelled.load(std::memory_order_relaxed);
    });
}

} // namespace kumiki::openmp
