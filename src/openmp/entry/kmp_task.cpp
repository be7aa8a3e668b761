#include <algorithm>
#include <cstring>
#include <new>

#include "openmp/entry/kmp_task.hpp"

/// Entry points of tasks as clang calls them.
namespace kumiki::openmp::kmp {
namespace {

/// The data of a task of the runtime: the program's task.
struct Data {
    Task* task;
};

void run(void* data) {
    Task* const task = static_cast<Data*>(data)->task;
    Head& head = head_of(task);
    Member& me = self();
    head.begun = true;
    me.task->skipped = is_cancelled(me, *me.task);
    if (!me.task->skipped) {
        do {
            head.again = false;
            task->routine(thread_number(), task);
        } while (head.again);
    }
    dispose(task);
}

/// Bytes, like any other; but a task whose data are copied by a function is not dropped when it is cancelled, so that
/// run() can free the program's task.
void copy_data(void* to, void* from) { std::memcpy(to, from, sizeof(Data)); }

std::vector<Dependence> read(std::int32_t count, const DependenceEntry* entries) {
    std::vector<Dependence> all;
    for (std::int32_t i = 0; i < count; ++i) {
        const auto& [address, length, bits] = entries[i];
        if ((bits & DependenceEntry::all_memory) != 0 || address == -1) {
            all.push_back({nullptr, Access::out});
            continue;
        }
        const Access access = (bits & (DependenceEntry::out | DependenceEntry::exclusive)) != 0 ? Access::out
                              : (bits & DependenceEntry::set) != 0                              ? Access::inoutset
                                                                                                : Access::in;
        all.push_back({reinterpret_cast<const void*>(address), access});
    }
    put_strongest_first(all);
    return all;
}

} // namespace

Task* allocate(std::uint32_t flags, std::size_t bytes, std::size_t shared_bytes, Routine routine) {
    // A program that knows only the first fields of a task may want fewer bytes.
    bytes = (std::max(bytes, sizeof(Task)) + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);
    void* const memory = task_memory(sizeof(Head) + bytes + shared_bytes, alignof(Head));
    auto* const head = new (memory) Head{.bytes = bytes + shared_bytes, .flags = flags};
    auto* const task = reinterpret_cast<Task*>(head + 1);
    std::memset(static_cast<void*>(task), 0, sizeof(Task));
    // clang before version 16 makes such a task without a routine of a taskwait with nowait.
    task->routine = routine != nullptr ? routine : [](std::int32_t, Task*) -> std::int32_t { return 0; };
    task->shared = shared_bytes != 0 ? reinterpret_cast<std::byte*>(task) + bytes : nullptr;
    return task;
}

Task* copy_of(Task* task) {
    const Head& head = head_of(task);
    Task* const copy = allocate(head.flags, head.bytes, 0, task->routine);
    std::memcpy(static_cast<void*>(copy), static_cast<const void*>(task), head.bytes);
    if (task->shared != nullptr)
        copy->shared = reinterpret_cast<std::byte*>(copy) +
                       (static_cast<std::byte*>(task->shared) - reinterpret_cast<std::byte*>(task));
    return copy;
}

void dispose(Task* task) {
    Head& head = head_of(task);
    if ((head.flags & has_destructors) != 0) task->destruction.destructors(thread_number(), task);
    head.~Head();
    free_task_memory(&head, alignof(Head));
}

void start(Task* task, bool at_once, const std::vector<Dependence>* dependences) {
    Member& me = self();
    Head& head = head_of(task);
    if (head.begun) { // an untied task goes on later; here it goes on at once, in the same thread
        head.again = true;
        return;
    }
    if (is_cancelled(me, *me.task)) return dispose(task);
    Data data{task};
    create_task(me, {.function = &run,
                     .data = &data,
                     .copy = &copy_data,
                     .size = sizeof data,
                     .alignment = alignof(Data),
                     .deferrable = !at_once,
                     .final = (head.flags & final_task) != 0,
                     .dependences = dependences,
                     .event = head.event});
}

} // namespace kumiki::openmp::kmp

using namespace kumiki::openmp;
using kmp::DependenceEntry;
using kmp::Source;

KUMIKI_ENTRY kmp::Task* __kmpc_omp_task_alloc(const Source*, std::int32_t, std::int32_t flags, std::size_t bytes,
                                              std::size_t shared_bytes, kmp::Routine routine) {
    return kmp::allocate(static_cast<std::uint32_t>(flags), bytes, shared_bytes, routine);
}
KUMIKI_ENTRY kmp::Task* __kmpc_omp_target_task_alloc(const Source*, std::int32_t, std::int32_t flags, std::size_t bytes,
                                                     std::size_t shared_bytes, kmp::Routine routine, std::int64_t) {
    return kmp::allocate(static_cast<std::uint32_t>(flags), bytes, shared_bytes, routine);
}
KUMIKI_ENTRY std::int32_t __kmpc_omp_task(const Source*, std::int32_t, kmp::Task* task) {
    kmp::start(task, false);
    return 0;
}
KUMIKI_ENTRY std::int32_t __kmpc_omp_task_parts(const Source*, std::int32_t, kmp::Task* task) {
    kmp::start(task, false);
    return 0;
}
KUMIKI_ENTRY std::int32_t __kmpc_omp_task_with_deps(const Source*, std::int32_t, kmp::Task* task, std::int32_t count,
                                                    const DependenceEntry* entries, std::int32_t,
                                                    const DependenceEntry*) {
    const auto dependences = kmp::read(count, entries);
    kmp::start(task, false, dependences.empty() ? nullptr : &dependences);
    return 0;
}
/// Where a task prefers to run is a hint.
KUMIKI_ENTRY std::int32_t __kmpc_omp_reg_task_with_affinity(const Source*, std::int32_t, kmp::Task*, std::int32_t,
                                                            const void*) {
    return 0;
}
KUMIKI_ENTRY void* __kmpc_task_allow_completion_event(const Source*, std::int32_t, kmp::Task* task) {
    kmp::Head& head = kmp::head_of(task);
    return head.event = make_event();
}

// A task whose if clause is false: the program calls its body between these two.
KUMIKI_ENTRY void __kmpc_omp_task_begin_if0(const Source*, std::int32_t, kmp::Task* task) {
    kmp::Head& head = kmp::head_of(task);
    head.begun = true;
    begin_task_here(self(), (head.flags & kmp::final_task) != 0);
}
KUMIKI_ENTRY void __kmpc_omp_task_complete_if0(const Source*, std::int32_t, kmp::Task* task) {
    kmp::Head& head = kmp::head_of(task);
    while (head.again) {
        head.again = false;
        task->routine(kmp::thread_number(), task);
    }
    kmp::dispose(task);
    end_task_here(self());
}

KUMIKI_ENTRY std::int32_t __kmpc_omp_taskwait(const Source*, std::int32_t) {
    wait_for_children(self());
    return 0;
}
KUMIKI_ENTRY void __kmpc_omp_wait_deps(const Source*, std::int32_t, std::int32_t count, const DependenceEntry* entries,
                                       std::int32_t, const DependenceEntry*) {
    wait_for_dependences(self(), kmp::read(count, entries));
}
KUMIKI_ENTRY void __kmpc_omp_taskwait_deps_51(const Source*, std::int32_t, std::int32_t count,
                                              const DependenceEntry* entries, std::int32_t, const DependenceEntry*,
                                              std::int32_t may_go_on) {
    const auto dependences = kmp::read(count, entries);
    if (may_go_on == 0) return wait_for_dependences(self(), dependences);
    kmp::start(kmp::allocate(0, sizeof(kmp::Task), 0, nullptr), false, &dependences);
}
KUMIKI_ENTRY std::int32_t __kmpc_omp_taskyield(const Source*, std::int32_t, int) { return 0; }
