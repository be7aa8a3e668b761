#include "openmp/entry/entry.hpp"
#include "openmp/team.hpp"

/// Entry points of barriers, critical and atomic constructs, and cancellation.
using namespace kumiki::openmp;

namespace {

/// A critical construct with a name has a word of the program of its own, which begins as zero.
Lock& lock_in(void** word) {
    static_assert(sizeof(Lock) <= sizeof(void*));
    return *reinterpret_cast<Lock*>(word);
}

enum Construct { parallel = 1, loop = 2, sections = 4, taskgroup = 8 };

Taskgroup* group_of(const Member& me) {
    Taskgroup* const group = me.task->group;
    if (group != nullptr && group->is_of_foreign_task()) return nullptr; // no construct that the program could cancel
    return group != nullptr && group->of_workshare && group->outer != nullptr ? group->outer : group;
}

bool is_cancelled(const Member& me, int construct) {
    if (me.team.cancelled()) return true;
    if ((construct & (loop | sections)) != 0) return me.team.workshare_cancelled();
    if ((construct & taskgroup) == 0) return false;
    const Taskgroup* const group = group_of(me);
    return group != nullptr && (me.task->group->cancelled.load(std::memory_order_relaxed) ||
                                group->cancelled.load(std::memory_order_relaxed));
}

} // namespace

KUMIKI_ENTRY void GOMP_barrier() {
    Member& me = self();
    me.team.barrier(me, __builtin_return_address(0));
}
KUMIKI_ENTRY bool GOMP_barrier_cancel() {
    Member& me = self();
    return me.team.barrier(me, __builtin_return_address(0));
}

KUMIKI_ENTRY void GOMP_critical_start() {
    if (OtherRanks* const others = process().others()) others->enter(OtherRanks::Own::critical);
    else process().critical.enter();
}
KUMIKI_ENTRY void GOMP_critical_end() {
    if (OtherRanks* const others = process().others()) others->leave(OtherRanks::Own::critical);
    else process().critical.leave();
}
KUMIKI_ENTRY void GOMP_critical_name_start(void** word) { enter_lock(lock_in(word)); }
KUMIKI_ENTRY void GOMP_critical_name_end(void** word) { leave_lock(lock_in(word)); }
KUMIKI_ENTRY void GOMP_atomic_start() { enter_atomic(); }
KUMIKI_ENTRY void GOMP_atomic_end() { leave_atomic(); }

KUMIKI_ENTRY bool GOMP_cancellation_point(int construct) {
    if (!process().environment().cancellation) return false;
    Member& me = self();
    me.team.take_in_cancellation(me);
    return is_cancelled(me, construct);
}
KUMIKI_ENTRY bool GOMP_cancel(int construct, bool wanted) {
    if (!process().environment().cancellation) return false;
    Member& me = self();
    me.team.take_in_cancellation(me);
    if (!wanted) return is_cancelled(me, construct);
    if ((construct & (loop | sections)) != 0) {
        me.team.cancel_workshare(me);
    } else if ((construct & taskgroup) != 0) {
        if (Taskgroup* const group = group_of(me)) group->cancelled.store(true, std::memory_order_relaxed);
    } else {
        me.team.cancel();
    }
    return true;
}
