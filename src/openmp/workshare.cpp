#include "openmp/workshare.hpp"

#include <new>

#include "openmp/reduction.hpp"

namespace kumiki::openmp {

void begin_share_group(Member& me) {
    begin_group(me);
    me.task->group->of_workshare = true;
}

void prepare_extras(Member& me, Workshare& share, std::uintptr_t* reductions, void** memory) {
    if (reductions != nullptr) {
        register_reductions(reductions, me.task->group->reductions, nullptr, me.team.size());
        me.task->group->reductions = reductions;
        share.reductions = reductions;
    }
    if (memory != nullptr) {
        const auto bytes = reinterpret_cast<std::uintptr_t>(*memory);
        share.memory = std::make_unique<std::byte[]>(bytes + platform::apart);
    }
}

void take_extras(Member& me, Workshare& share, std::uintptr_t* reductions, void** memory) {
    if (reductions != nullptr && share.reductions != reductions) {
        register_reductions(reductions, me.task->group->reductions, share.reductions, me.team.size());
        me.task->group->reductions = reductions;
    }
    if (memory != nullptr) {
        const auto start = reinterpret_cast<std::uintptr_t>(share.memory.get());
        *memory = reinterpret_cast<void*>((start + platform::apart - 1) / platform::apart * platform::apart);
    }
}

void enter_share(Member& me, const Loop& loop, std::uintptr_t* reductions, void** memory) {
    if (const OtherRanks* const others = me.team.others()) {
        if (reductions != nullptr) others->refuse("a reduction over tasks");
        if (memory != nullptr) others->refuse("a scan, or a conditional lastprivate");
    }
    if (reductions != nullptr) begin_share_group(me);
    Workshare& share = me.team.shares().enter(me, [&](Workshare& first) {
        first.loop = loop;
        prepare_extras(me, first, reductions, memory);
    });
    take_extras(me, share, reductions, memory);
    me.position = {};
    number_loop(me, loop);
}

} // namespace kumiki::openmp
