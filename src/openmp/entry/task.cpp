#include <algorithm>
#include <array>
#include <cstdint>

#include "openmp/entry/deal.hpp"
#include "openmp/entry/entry.hpp"
#include "openmp/reduction.hpp"
#include "openmp/team.hpp"

/// Entry points of tasks.
using namespace kumiki::openmp;

namespace {

using Body = void (*)(void*);
using Copy = void (*)(void* to, void* from);

enum Flag : unsigned {
    final_task = 1U << 1,
    depends = 1U << 3,
    upwards = 1U << 8,
    grain_size = 1U << 9,
    deferrable = 1U << 10,
    no_group = 1U << 11,
    reduces = 1U << 12,
    detached = 1U << 13,
    strict = 1U << 14
};

/// What the compiler puts before the data of a taskloop's task.
struct Head {
    std::array<std::uint64_t, 2> part; ///< the first value of the loop's variable, and the one behind the last
    std::uintptr_t* reductions;        ///< if there are any
};

/// Registers the reductions of the innermost taskgroup.
void reduce_in_group(const Member& me, std::uintptr_t* reductions) {
    Taskgroup& group = *me.task->group;
    register_reductions(reductions, group.reductions, me.team.size(), allocate_copies(reductions, me.team.size()));
    group.reductions = reductions;
}

void taskloop(const Loop& loop, Body body, void* data, Copy copy, long size, long alignment, unsigned flags,
              unsigned long wanted) {
    Member& me = self();
    auto& head = *static_cast<Head*>(data);
    const bool grouped = (flags & no_group) == 0, reducing = grouped && (flags & reduces) != 0;
    if (loop.count == 0 || me.team.cancelled()) {
        if (reducing) head.reductions[2] = 0; // tells the program that nothing was registered
        return;
    }
    if (grouped) begin_group(me);
    if (reducing) {
        reduce_in_group(me, head.reductions);
    }
    const Deal deal = deal_out(loop.count, {.grain = (flags & grain_size) != 0, .strict = (flags & strict) != 0},
                               wanted, me.team.size());
    std::uint64_t begin = 0;
    for (std::uint64_t number = 0; number < deal.tasks; ++number) {
        const std::uint64_t end = deal.end(number, begin, loop.count);
        create_task(me, {.function = body,
                         .data = data,
                         .copy = copy,
                         .size = static_cast<std::size_t>(size),
                         .alignment = static_cast<std::size_t>(alignment),
                         .deferrable = (flags & deferrable) != 0,
                         .final = (flags & final_task) != 0,
                         .dependences = nullptr,
                         .event = nullptr,
                         .is_part_of_loop = true,
                         .part = {loop.value(begin), loop.value(end)}});
        begin = end;
    }
    if (grouped) end_group(me);
}

} // namespace

KUMIKI_ENTRY void GOMP_task(Body body, void* data, Copy copy, long size, long alignment, bool may_defer, unsigned flags,
                            void** dependences, int, void* event) {
    std::vector<Dependence> read;
    if ((flags & depends) != 0) read = read_dependences(dependences);
    Event* const made = (flags & detached) != 0 ? make_event() : nullptr;
    if (made != nullptr) {
        // The handle is in the program's variable, and in what will be the task's own copy of it.
        *static_cast<void**>(event) = made;
        if (data != nullptr) *static_cast<void**>(data) = made;
    }
    create_task(self(), {.function = body,
                         .data = data,
                         .copy = copy,
                         .size = static_cast<std::size_t>(size),
                         .alignment = static_cast<std::size_t>(alignment),
                         .deferrable = may_defer,
                         .final = (flags & final_task) != 0,
                         .dependences = (flags & depends) != 0 ? &read : nullptr,
                         .event = made});
}

KUMIKI_ENTRY void GOMP_taskloop(Body body, void* data, Copy copy, long size, long alignment, unsigned flags,
                                unsigned long wanted, int, long start, long end, long step) {
    taskloop(Loop::over(start, end, step, {}), body, data, copy, size, alignment, flags, wanted);
}
KUMIKI_ENTRY void GOMP_taskloop_ull(Body body, void* data, Copy copy, long size, long alignment, unsigned flags,
                                    unsigned long wanted, int, unsigned long long start, unsigned long long end,
                                    unsigned long long step) {
    taskloop(Loop::over((flags & upwards) != 0, start, end, step, {}), body, data, copy, size, alignment, flags,
             wanted);
}

KUMIKI_ENTRY void GOMP_taskwait() { wait_for_children(self()); }
KUMIKI_ENTRY void GOMP_taskwait_depend(void** dependences) {
    wait_for_dependences(self(), read_dependences(dependences));
}
/// An empty task with these dependences.
KUMIKI_ENTRY void GOMP_taskwait_depend_nowait(void** dependences) {
    GOMP_task([](void*) {}, nullptr, nullptr, 0, 1, true, depends, dependences, 0, nullptr);
}
KUMIKI_ENTRY void GOMP_taskyield() {} // going on with the same task is always allowed

KUMIKI_ENTRY void GOMP_taskgroup_start() { begin_group(self()); }
KUMIKI_ENTRY void GOMP_taskgroup_end() { end_group(self()); }

KUMIKI_ENTRY void GOMP_taskgroup_reduction_register(std::uintptr_t* reductions) { reduce_in_group(self(), reductions); }
KUMIKI_ENTRY void GOMP_taskgroup_reduction_unregister(std::uintptr_t* reductions) { unregister_reductions(reductions); }
KUMIKI_ENTRY void GOMP_task_reduction_remap(std::size_t count, std::size_t originals, void** addresses) {
    find_copies(self(), count, originals, addresses);
}

KUMIKI_ENTRY int omp_in_final() { return self().task->final ? 1 : 0; }
KUMIKI_ENTRY int omp_in_final_() { return omp_in_final(); }
KUMIKI_ENTRY int omp_in_explicit_task() { return self().task->implicit ? 0 : 1; }
KUMIKI_ENTRY void omp_fulfill_event(Event* event) { fulfill(event); }
KUMIKI_ENTRY int omp_in_explicit_task_() { return omp_in_explicit_task(); }
KUMIKI_ENTRY void omp_fulfill_event_(Event* event) { fulfill(event); }
