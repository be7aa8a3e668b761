#include "openmp/entry/entry.hpp"
#include "openmp/reduction.hpp"
#include "openmp/workshare.hpp"

/// Entry points of sections, scope and single constructs.
using namespace kumiki::openmp;

namespace {

/// The number of the member's next section; 0: there is none.
unsigned next_section(Member& me) {
    Chunk chunk;
    return next_chunk(me, chunk) ? static_cast<unsigned>(me.share->loop.value(chunk.begin)) : 0;
}

} // namespace

KUMIKI_ENTRY unsigned GOMP_sections_start(unsigned count) {
    Member& me = self();
    enter_loop(me, Loop::sections(count));
    return next_section(me);
}
KUMIKI_ENTRY unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
    Member& me = self();
    // The compiler takes a thread's last section for its highest one (lastprivate(conditional)).
    enter_share(me, Loop::sections(count), reductions, memory);
    return next_section(me);
}
KUMIKI_ENTRY unsigned GOMP_sections_next() { return next_section(self()); }
KUMIKI_ENTRY void GOMP_sections_end() {
    Member& me = self();
    leave_share(me);
    me.team.barrier(me, __builtin_return_address(0));
}
KUMIKI_ENTRY bool GOMP_sections_end_cancel() {
    Member& me = self();
    leave_share(me);
    return me.team.barrier(me, __builtin_return_address(0));
}
KUMIKI_ENTRY void GOMP_sections_end_nowait() { leave_share(self()); }

KUMIKI_ENTRY void GOMP_scope_start(std::uintptr_t* reductions) {
    Member& me = self();
    enter_share(me, Loop{}, reductions, nullptr);
    leave_share(me); // nothing else is shared, and the program does not announce the end of the construct
}

KUMIKI_ENTRY void GOMP_workshare_task_reduction_unregister(bool cancelled) {
    Member& me = self();
    auto* const reductions = me.task->group->reductions;
    const std::uint64_t number = me.task->group->number;
    OtherRanks* const others = me.team.others();
    end_group(me);
    // The construct's own barrier lies before this call, so no task uses the copies any more; and thread 0 has combined
    // those of all threads in between, so it frees them. But if that barrier was cancelled, each thread combines its
    // own copies, at a time of its own, so they stay. Copies for several ranks are words of the construct.
    if (me.id == 0 && !cancelled && others == nullptr) unregister_reductions(reductions);
    else forget_reductions(reductions);
    if (!cancelled) me.team.barrier(me, __builtin_return_address(0));
    if (others != nullptr && me.place_here == 0) others->give_words(number);
}

KUMIKI_ENTRY bool GOMP_single_start() {
    Member& me = self();
    return me.team.first_at_single(me);
}
KUMIKI_ENTRY void* GOMP_single_copy_start() {
    Member& me = self();
    if (me.team.first_at_single(me)) return nullptr;
    me.team.barrier(me, __builtin_return_address(0));
    return me.team.single_data();
}
KUMIKI_ENTRY void GOMP_single_copy_end(void* data) {
    Member& me = self();
    me.team.set_single_data(data); // the barrier publishes it; another one follows before the next copy
    me.team.barrier(me, __builtin_return_address(0));
}
