#include "openmp/task.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "openmp/dependences.hpp"
#include "openmp/team.hpp"

namespace kumiki::openmp {
namespace {

constexpr std::size_t most_queued = 256; ///< by one thread; further tasks run at once
constexpr int most_immediate = 64;       ///< tasks that run at once, one inside the other: the stack has an end

std::uint64_t uses(std::uint64_t state) { return state >> 32; }

/// The memory of a task: the object, and its data behind it.
Task* allocate(std::size_t size, std::size_t alignment) {
    alignment = std::max(alignment, alignof(Task));
    void* const memory = ::operator new(sizeof(Task) + size + alignment);
    auto* const task = new (memory) Task;
    const auto end = reinterpret_cast<std::uintptr_t>(task + 1);
    task->data = reinterpret_cast<void*>((end + alignment - 1) / alignment * alignment);
    return task;
}

/// The object of `task` is not needed any more by one of its users; frees it, and its ancestors', when none is left.
void drop_use(Task* task) {
    while (!task->implicit && uses(task->state.fetch_sub(Task::one_use, std::memory_order_acq_rel)) == 1) {
        Task* const parent = task->parent;
        task->~Task();
        ::operator delete(static_cast<void*>(task));
        task = parent;
    }
}

bool is_inside(const Task& task, const Task* ancestor) {
    for (const Task* each = task.parent; each != nullptr; each = each->implicit ? nullptr : each->parent)
        if (each == ancestor) return true;
    return false;
}

/// The task has ended, and so has its event if it has one. `me` is a member of the team of the task, in which what
/// becomes ready is queued; `counter` counts the tasks that are finished.
template <class Count>
void complete(Task* task, Member& me, Count count) {
    Team& team = me.team;
    if (task->dependence != nullptr) finish(*task->dependence, me);
    if (task->group != nullptr) task->group->unfinished.fetch_sub(1, std::memory_order_release);
    if (task->done != nullptr) task->done->store(true, std::memory_order_release);
    Task* const parent = task->parent;
    // release: whoever waits for the children of the parent sees what this one did.
    parent->state.fetch_sub(Task::one_child, std::memory_order_release);
    drop_use(task);
    count();
    team.ring();
}

void count_finished(Member& me) {
    // Only this thread writes the word. release: with all words, the team knows that tasks are done.
    me.finished.store(me.finished.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

/// One of the ends of the task; the last one completes it.
void close_end(Member& me, Task* task) {
    if (task->open_ends.fetch_sub(1, std::memory_order_acq_rel) == 1) complete(task, me, [&] { count_finished(me); });
}

Task* make_task(Member& me, const TaskRequest& request) {
    Task& parent = *me.task;
    Task* const task = allocate(request.size, request.alignment);
    task->parent = &parent;
    task->function = request.function;
    task->group = parent.group;
    task->controls = parent.controls;
    task->final = request.final || parent.final;
    task->cancellable = request.copy == nullptr;
    task->creator = &me;
    // Relaxed: others see the task only after it was queued.
    parent.state.fetch_add(Task::one_child + Task::one_use, std::memory_order_relaxed);
    if (task->group != nullptr) task->group->unfinished.fetch_add(1, std::memory_order_relaxed);
    if (request.event != nullptr) {
        task->open_ends.store(2, std::memory_order_relaxed);
        *request.event = task;
        if (request.data != nullptr) *static_cast<void**>(request.data) = task; // the task's own copy of the handle
    }
    if (request.copy != nullptr) {
        Task* const before = std::exchange(me.task, task);
        request.copy(task->data, request.data);
        me.task = before;
    } else if (request.size != 0) {
        std::memcpy(task->data, request.data, request.size);
    }
    if (request.is_part_of_loop) std::memcpy(task->data, request.part.data(), sizeof request.part);
    return task;
}

/// Enters the task into the graph of dependences; returns whether it is ready.
bool order(Member& me, Task* task, const std::vector<Dependence>& dependences, bool queue_when_ready) {
    task->dependence = std::make_shared<DependenceNode>();
    if (queue_when_ready) task->dependence->task = task;
    auto& table = me.task->children_dependences;
    if (table == nullptr) table = std::make_unique<DependenceTable>();
    table->add(task->dependence, dependences);
    return close(*task->dependence);
}

/// Runs the task before its creator goes on.
void run_at_once(Member& me, Task* task) {
    ++me.immediate;
    run_task(me, task);
    --me.immediate;
}

/// A task that may not be deferred: its creator waits until it is done, with its event.
void run_undeferred(Member& me, Task* task) {
    std::atomic<bool> done{false};
    task->done = &done;
    run_at_once(me, task);
    if (!done.load(std::memory_order_acquire))
        work_until(me, me.task, [&] { return done.load(std::memory_order_acquire); });
}

/// Whether the task begins at once although it may be deferred: outside of parallel regions nothing promises that
/// the thread will look for it later, a team of one gains nothing by queueing, and queues must not grow without end.
bool begins_at_once(const Member& me) {
    if (me.team.level() == 0) return true;
    return me.immediate < most_immediate && (me.team.size() == 1 || me.queue.size() >= most_queued);
}

} // namespace

bool is_cancelled(const Member& me, const Task& task) {
    if (me.team.cancelled()) return true;
    const Taskgroup* const group = task.group;
    return group != nullptr && (group->cancelled.load(std::memory_order_relaxed) ||
                                (group->of_workshare && group->outer != nullptr &&
                                 group->outer->cancelled.load(std::memory_order_relaxed)));
}

void begin_task_here(Member& me, bool final) {
    me.created.store(me.created.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    me.task = make_task(me, {.function = nullptr,
                             .data = nullptr,
                             .copy = nullptr,
                             .size = 0,
                             .alignment = 1,
                             .deferrable = false,
                             .final = final,
                             .dependences = nullptr,
                             .event = nullptr});
}

void end_task_here(Member& me) {
    Task* const task = std::exchange(me.task, me.task->parent);
    close_end(me, task);
}

void create_task(Member& me, const TaskRequest& request) {
    if (is_cancelled(me, *me.task)) return;
    const bool deferrable = request.deferrable && !me.task->final;
    const bool at_once = !deferrable || begins_at_once(me);
    Task* const task = make_task(me, request);
    // Whoever waits for all tasks of the team has to look for those that have not ended when their creation returns.
    if (!at_once || request.event != nullptr || request.dependences != nullptr) me.team.note_task();
    me.created.store(me.created.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    if (request.dependences != nullptr && !order(me, task, *request.dependences, deferrable)) {
        if (deferrable) return; // the last of those before it will queue it
        work_until(me, me.task, [&] { return task->dependence->unfinished.load(std::memory_order_acquire) == 0; });
    }
    if (!deferrable) return run_undeferred(me, task);
    if (at_once) return run_at_once(me, task);
    me.queue.push(task);
    me.team.ring();
}

Task* take_task(Member& me, const Task* inside) {
    Team& team = me.team;
    if (!team.had_tasks()) return nullptr;
    const auto fits = [inside](const Task& task) { return inside == nullptr || is_inside(task, inside); };
    if (Task* const task = me.queue.take_newest(fits)) return task;
    const int size = team.size();
    for (int i = 1; i < size; ++i) {
        Member& victim = team.member((me.id + i) % size);
        // A task of the next region, which this thread has not begun, was queued after that region began, under this
        // lock; so this thread sees the region's number.
        if (Task* const task = victim.queue.take_oldest([&] { return me.region == team.region(); }, fits)) return task;
    }
    return nullptr;
}

void run_task(Member& me, Task* task) {
    if (!task->cancellable || !is_cancelled(me, *task)) {
        Task* const before = std::exchange(me.task, task);
        task->function(task->data);
        me.task = before;
    }
    close_end(me, task);
}

void wait_for_children(Member& me) {
    Task& task = *me.task;
    if (task.has_children()) work_until(me, &task, [&] { return !task.has_children(); });
}

void wait_for_dependences(Member& me, const std::vector<Dependence>& dependences) {
    if (me.task->children_dependences == nullptr) return;
    const auto node = std::make_shared<DependenceNode>();
    me.task->children_dependences->add_wait(node, dependences);
    if (!close(*node)) work_until(me, me.task, [&] { return node->unfinished.load(std::memory_order_acquire) == 0; });
}

void begin_group(Member& me) {
    auto* const group = new Taskgroup;
    group->outer = me.task->group;
    if (group->outer != nullptr) group->reductions = group->outer->reductions;
    me.task->group = group;
}

void end_group(Member& me) {
    const std::unique_ptr<Taskgroup> group(me.task->group);
    const auto ended = [&] { return group->unfinished.load(std::memory_order_acquire) == 0; };
    if (!ended()) work_until(me, me.task, ended);
    me.task->group = group->outer;
}

void fulfill(Task& task) {
    Member& creator = *task.creator;
    if (the_member != nullptr && &the_member->team == &creator.team) return close_end(*the_member, &task);
    if (task.open_ends.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    // This thread does not belong to the team, whose member's counter it must not write.
    Team& team = creator.team;
    complete(&task, creator, [&] { team.finished_elsewhere(); });
}

} // namespace kumiki::openmp
