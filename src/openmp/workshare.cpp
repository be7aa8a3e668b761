#include "openmp/workshare.hpp"

#include <new>
#include <utility>

#include "openmp/reduction.hpp"

namespace kumiki::openmp {
namespace {

std::size_t words_for(std::size_t bytes) { return (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t); }

} // namespace

Schedule runtime_schedule(bool monotonic) {
    Schedule schedule = self().task->controls.schedule;
    schedule.monotonic |= monotonic;
    return schedule;
}

void begin_share_group(Member& me) {
    begin_group(me);
    me.task->group->of_workshare = true;
    me.task->group->number = me.claims_met;
}

void prepare_extras(Member& me, Workshare& share, const std::uintptr_t* reductions, void** memory) {
    OtherRanks* const others = me.team.others();
    if (reductions != nullptr) {
        // All ranks need the copies until the construct's reductions are unregistered.
        share.copies = others == nullptr
                           ? allocate_copies(reductions, me.team.size())
                           : others->take_words(me.claims_met, words_for(bytes_of_copies(reductions, me.team.size())));
    }
    if (memory != nullptr) {
        const auto bytes = reinterpret_cast<std::uintptr_t>(*memory) + platform::apart;
        if (others == nullptr) share.memory = std::make_unique<std::byte[]>(bytes);
        else share.words = std::make_unique<SharedWords>(*others, me.claims_met, words_for(bytes));
    }
}

void take_extras(Member& me, Workshare& share, std::uintptr_t* reductions, void** memory) {
    if (reductions != nullptr) {
        register_reductions(reductions, me.task->group->reductions, me.team.size(), share.copies);
        me.task->group->reductions = reductions;
    }
    if (memory != nullptr) {
        const auto start = share.words ? reinterpret_cast<std::uintptr_t>(share.words->words)
                                       : reinterpret_cast<std::uintptr_t>(share.memory.get());
        *memory = reinterpret_cast<void*>((start + platform::apart - 1) / platform::apart * platform::apart);
    }
}

void enter_doacross(Member& me, const Loop& loop, std::vector<std::uint64_t> counts, std::uint64_t part,
                    std::uintptr_t* reductions, void** memory) {
    OtherRanks* const others = me.team.others();
    if (others != nullptr && (reductions != nullptr || memory != nullptr))
        others->refuse("a loop with dependences that has a reduction over tasks or a conditional lastprivate");
    if (reductions != nullptr) begin_share_group(me);
    Workshare& share = me.team.shares().enter(me, [&](Workshare& first) {
        describe_loop(me, first, loop);
        first.doacross = std::make_unique<Doacross>(std::move(counts), part, others, me.claims_met);
        prepare_extras(me, first, reductions, memory);
    });
    take_extras(me, share, reductions, memory);
    begin_loop(me, share.loop);
}

void enter_share(Member& me, const Loop& loop, std::uintptr_t* reductions, void** memory) {
    if (const OtherRanks* const others = me.team.others();
        others != nullptr && reductions != nullptr && memory != nullptr)
        others->refuse("a construct with a reduction over tasks and a conditional lastprivate");
    if (reductions != nullptr) begin_share_group(me);
    Workshare& share = me.team.shares().enter(me, [&](Workshare& first) {
        describe_loop(me, first, loop);
        prepare_extras(me, first, reductions, memory);
    });
    take_extras(me, share, reductions, memory);
    begin_loop(me, loop);
}

} // namespace kumiki::openmp
