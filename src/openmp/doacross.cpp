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
    std::uint64_t done = iteration[0] % part;
    for (unsigned dimension = 1; dimension < dimensions; ++dimension)
        done = done * counts[dimension] + iteration[dimension];
    return done;
}

void enter_doacross(Member& me, unsigned dimensions, const std::uint64_t* counts, Schedule schedule,
                    std::uintptr_t* reductions, void** memory) {
    OtherRanks* const others = me.team.others();
    if (others != nullptr && (reductions != nullptr || memory != nullptr))
        others->refuse("a loop with dependences that has a reduction over tasks or a conditional lastprivate");
    if (reductions != nullptr) begin_share_group(me);
    Workshare& entered = me.team.shares().enter(me, [&](Workshare& share) {
        describe_loop(me, share, {.first = 0, .step = 1, .count = counts[0], .schedule = schedule, .ordered = false});
        const std::size_t parts = counts[0] / part_length(schedule) + 1;
        auto doacross = std::make_unique<Doacross>();
        doacross->dimensions = dimensions;
        doacross->counts = std::make_unique<std::uint64_t[]>(dimensions);
        std::copy_n(counts, dimensions, doacross->counts.get());
        doacross->part = part_length(schedule);
        if (others != nullptr) doacross->shared = std::make_unique<SharedWords>(*others, me.claims_met, parts);
        else doacross->reached = std::make_unique<std::atomic<std::uint64_t>[]>(parts);
        share.doacross = std::move(doacross);
        prepare_extras(me, share, reductions, memory);
    });
    take_extras(me, entered, reductions, memory);
    begin_loop(me, entered.loop);
}

void post(Member& me, const std::uint64_t* iteration) {
    if (me.share == nullptr || me.share->doacross == nullptr) return;
    const Doacross& doacross = *me.share->doacross;
    if (const auto& shared = doacross.shared)
        return shared->others.post(shared->words[iteration[0] / doacross.part], doacross.flat(iteration) + 1);
    // release: a thread that waits for this iteration sees what this one did before it posted.
    doacross.reached[iteration[0] / doacross.part].store(doacross.flat(iteration) + 1, std::memory_order_release);
    me.team.ring();
}

void await_post(Member& me, const std::uint64_t* iteration) {
    if (me.share == nullptr || me.share->doacross == nullptr) return;
    const Workshare& share = *me.share;
    const Doacross& doacross = *share.doacross;
    const std::uint64_t part = iteration[0] / doacross.part, needed = doacross.flat(iteration);
    if (const auto& shared = doacross.shared) return shared->others.await(shared->words[part], needed + 1);
    const auto& reached = doacross.reached[part];
    wait::wait(me.team.bell(), me.team.patience(), [&] {
        return reached.load(std::memory_order_acquire) > needed || me.team.cancelled() ||
               share.cancelled.load(std::memory_order_relaxed);
    });
}

} // namespace kumiki::openmp
