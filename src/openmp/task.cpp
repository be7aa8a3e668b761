#include "openmp/task.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <utility>

#include "openmp/dependences.hpp"
#include "openmp/other_ranks.hpp"
#include "openmp/process.hpp"
#include "openmp/team.hpp"
#include "platform/thread.hpp"

namespace kumiki::openmp {
namespace {

constexpr std::size_t most_queued = 32; ///< by one thread, for each thread of its team; further tasks run at once
constexpr int most_immediate = 64;      ///< tasks that run at once, one inside the other: the stack has an end

std::uint64_t uses(std::uint64_t state) { return state >> 32; }

/// The memory of a task: the object, and its data behind it.
Task* allocate(Member& me, std::size_t size, std::size_t alignment) {
    alignment = std::max(alignment, alignof(Task));
    const std::size_t bytes = sizeof(Task) + size + alignment;
    const bool is_large = bytes > TaskBlocks::size;
    auto* const task = new (is_large ? task_memory(bytes, alignof(Task)) : me.blocks.take()) Task;
    const auto end = reinterpret_cast<std::uintptr_t>(task + 1);
    task->data = reinterpret_cast<void*>((end + alignment - 1) / alignment * alignment);
    task->creator = &me;
    task->is_large = is_large;
    return task;
}

void free_task(Task* task) {
    Member& creator = *task->creator;
    const bool is_large = task->is_large;
    task->~Task();
    if (is_large) free_task_memory(task, alignof(Task));
    else if (&creator == the_member) creator.blocks.give(task);
    else TaskBlocks::free(task);
}

/// Takes `amount` from the state of the task, in which there is a use of its object. Frees the object if that was the
/// last one, and then its ancestors' that were needed for it alone.
void drop(Task* task, std::uint64_t amount) {
    for (;;) {
        const bool stays = task->implicit; // read before others may free the object
        // release: a thread that waits for the children of the task sees what they did; acquire: so does the one that
        // frees.
        if (uses(task->state.fetch_sub(amount, std::memory_order_acq_rel)) != 1 || stays) return;
        Task* const parent = task->parent;
        free_task(task);
        task = parent;
        amount = Task::one_use;
    }
}

/// The task has ended: its parent has one child less, and the task itself does not need its object any more.
void leave(Task* task) {
    Task* const parent = task->parent;
    // If it has no children's objects left, nobody else can need it: only the task itself could have created others.
    if (task->state.load(std::memory_order_acquire) == Task::one_use) {
        free_task(task);
        drop(parent, Task::one_child + Task::one_use);
    } else {
        parent->state.fetch_sub(Task::one_child, std::memory_order_release);
        drop(task, Task::one_use);
    }
}

bool is_inside(const Task& task, const Task* ancestor) {
    for (const Task* each = task.parent; each != nullptr; each = each->implicit ? nullptr : each->parent)
        if (each == ancestor) return true;
    return false;
}

/// A task of the group has ended.
void leave_group(Taskgroup& group, Team& team) {
    const bool is_of_foreign_task = group.is_of_foreign_task(); // read before another thread may free the group
    // acquire: the message about the group's end is also about what others of its tasks did.
    if (group.unfinished.fetch_sub(1, std::memory_order_acq_rel) != 1 || !is_of_foreign_task) return;
    team.exchange()->end(group.origin, group.told_body ? ReturnedTask::How::rest_ended : ReturnedTask::How::ended,
                         group.took);
    delete &group;
}

/// The task has ended, and so has its event if it has one. `me` is a member of the team of the task, in which what
/// becomes ready is queued; `counter` counts the tasks that are finished.
template <class Count>
void complete(Task* task, Member& me, Count count) {
    Team& team = me.team;
    if (task->dependence != nullptr) finish(*task->dependence, me);
    if (task->group != nullptr) leave_group(*task->group, team);
    if (task->done != nullptr) task->done->store(true, std::memory_order_release);
    leave(task);
    count();
    team.ring();
}

void count_finished(Member& me) {
    // Only this thread writes the word. release: with all words, the team knows that tasks are done.
    me.finished.store(me.finished.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

/// One of the ends of the task; the last one completes it.
void close_end(Member& me, Task* task) {
    // Most tasks have one end only; and if another one is closed already, nobody else looks at the number.
    if (task->open_ends.load(std::memory_order_acquire) == 1 ||
        task->open_ends.fetch_sub(1, std::memory_order_acq_rel) == 1)
        complete(task, me, [&] { count_finished(me); });
}

/// Completes a task whose body is skipped. Whoever has the handle of its event may still fulfil it, or never does,
/// because the body would have; so the task does not wait for that, but its object stays for it.
void discard(Member& me, Task* task) {
    if (task->open_ends.load(std::memory_order_acquire) != 1) {
        task->state.fetch_add(Task::one_use, std::memory_order_relaxed);
        if (task->open_ends.exchange(0, std::memory_order_acq_rel) == 1) drop(task, Task::one_use);
    }
    complete(task, me, [&] { count_finished(me); });
}

/// A task as it is requested, of which the parent and its group do not know yet.
Task* make_task(Member& me, const TaskRequest& request) {
    Task& parent = *me.task;
    Task* const task = allocate(me, request.size, request.alignment);
    task->parent = &parent;
    task->function = request.function;
    task->group = parent.group;
    task->controls = parent.controls;
    task->final = request.final || parent.final;
    task->cancellable = request.copy == nullptr;
    task->stays = request.stays;
    if (request.event != nullptr) {
        task->open_ends.store(2, std::memory_order_relaxed);
        request.event->task = task;
    }
    if (request.copy != nullptr) {
        Task* const before = std::exchange(me.task, task);
        request.copy(task->data, request.data);
        me.task = before;
    } else if (request.size != 0) {
        std::memcpy(task->data, request.data, request.size);
        task->bytes = static_cast<std::uint32_t>(request.size);
    }
    task->alignment = static_cast<std::uint32_t>(request.alignment);
    if (request.is_part_of_loop) std::memcpy(task->data, request.part.data(), sizeof request.part);
    return task;
}

/// The team, the parent and its group have one task more.
void count_created(Member& me, const Task& task) {
    // Relaxed: others see the task only after it was queued.
    task.parent->state.fetch_add(Task::one_child + Task::one_use, std::memory_order_relaxed);
    if (task.group != nullptr) task.group->unfinished.fetch_add(1, std::memory_order_relaxed);
    me.created.store(me.created.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

/// Runs a task that ends before its creator goes on, so that nobody needs to know of it but its own children.
void run_in_place(Member& me, const TaskRequest& request) {
    Task* const task = make_task(me, request);
    ++me.immediate;
    Task* const before = std::exchange(me.task, task);
    task->function(task->data);
    me.task = before;
    --me.immediate;
    if (task->state.load(std::memory_order_acquire) == Task::one_use) return free_task(task);
    // Children outlive it, and need its object, which needs that of its parent.
    task->parent->state.fetch_add(Task::one_use, std::memory_order_relaxed);
    drop(task, Task::one_use);
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
    return me.immediate < most_immediate && ((me.team.here() == 1 && me.team.exchange() == nullptr) ||
                                             me.queue.size() >= most_queued * static_cast<std::size_t>(me.team.here()));
}

} // namespace

namespace {

/// For longer alignments the C library's allocator takes several times as long.
bool is_common(std::size_t alignment) { return alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__; }

} // namespace

void* task_memory(std::size_t bytes, std::size_t alignment) {
    if (process().others() == nullptr)
        return is_common(alignment) ? ::operator new(bytes) : ::operator new(bytes, std::align_val_t(alignment));
    void* const memory = program_memory(bytes, alignment);
    if (memory == nullptr) refuse(fmt::format("there is no memory for a task of {} bytes", bytes));
    return memory;
}
void free_task_memory(void* memory, std::size_t alignment) {
    if (process().others() != nullptr) std::free(memory);
    else if (is_common(alignment)) ::operator delete(memory);
    else ::operator delete(memory, std::align_val_t(alignment));
}

TaskBlocks::~TaskBlocks() {
    while (kept_ != nullptr) free(std::exchange(kept_, kept_->next));
}

bool is_cancelled(const Member& me, const Task& task) {
    if (me.team.cancelled()) return true;
    const Taskgroup* const group = task.group;
    return group != nullptr && (group->cancelled.load(std::memory_order_relaxed) ||
                                (group->of_workshare && group->outer != nullptr &&
                                 group->outer->cancelled.load(std::memory_order_relaxed)));
}

void begin_task_here(Member& me, bool final) {
    Task* const task = make_task(me, {.function = nullptr,
                                      .data = nullptr,
                                      .copy = nullptr,
                                      .size = 0,
                                      .alignment = 1,
                                      .deferrable = false,
                                      .final = final,
                                      .dependences = nullptr,
                                      .event = nullptr});
    count_created(me, *task);
    me.task = task;
}

void end_task_here(Member& me) {
    Task* const task = std::exchange(me.task, me.task->parent);
    close_end(me, task);
}

void create_task(Member& me, const TaskRequest& request) {
    if (is_cancelled(me, *me.task)) return;
    const bool deferrable = request.deferrable && !me.task->final;
    bool at_once = !deferrable || begins_at_once(me);
    TaskExchange* const exchange = me.team.exchange();
    if (at_once && deferrable && exchange != nullptr) {
        exchange_tasks(me, *exchange, Doing::creates); // the queue may be shorter then
        at_once = begins_at_once(me);
    }
    const bool may_last = request.event != nullptr || request.dependences != nullptr;
    if (at_once && !may_last) return run_in_place(me, request);
    Task* const task = make_task(me, request);
    me.team.note_task(); // a thread that waits for all tasks of the team has to look for them
    count_created(me, *task);
    if (request.dependences != nullptr && !order(me, task, *request.dependences, deferrable)) {
        if (deferrable) return; // the last of those before it will queue it
        work_until(me, me.task, [&] { return task->dependence->unfinished.load(std::memory_order_acquire) == 0; });
    }
    if (!deferrable) return run_undeferred(me, task);
    if (at_once) return run_at_once(me, task);
    me.queue.push(task);
    me.team.ring();
    if (exchange != nullptr) exchange_tasks(me, *exchange, Doing::creates);
}

namespace {

/// It is executed as if one of the team's threads had created it outside of all tasks.
Task* make_foreign_task(Member& me, const GivenTask& given) {
    Task* const task = allocate(me, given.bytes.size(), given.alignment);
    task->parent = &me.implicit;
    task->function = given.function;
    task->controls = given.controls;
    task->final = given.final;
    task->cancellable = given.cancellable;
    task->foreign = true;
    if (given.data != nullptr) task->data = given.data;
    else std::ranges::copy(given.bytes, static_cast<std::byte*>(task->data));
    task->group = new Taskgroup;
    task->group->origin = given.origin;
    me.team.note_task();
    count_created(me, *task);
    return task;
}

/// What waits for the task itself goes on when its body has ended, and its group and its team when the rest has, too.
void take_back_part(Member& me, Task* task, ReturnedTask::How how) {
    if (how == ReturnedTask::How::body_ended) {
        if (task->dependence != nullptr) finish(*task->dependence, me);
        task->parent->state.fetch_sub(Task::one_child, std::memory_order_release);
    } else if (task->group != nullptr) {
        leave_group(*task->group, me.team);
    }
    if (task->parts_ended.fetch_add(1, std::memory_order_acq_rel) == 1) {
        drop(task, Task::one_use);
        count_finished(me);
    }
    me.team.ring();
}

} // namespace

void take_back_task(Member& me, const ReturnedTask& returned) {
    switch (returned.how) {
    case ReturnedTask::How::not_executed: return me.queue.push_oldest(returned.task);
    case ReturnedTask::How::ended: return close_end(me, returned.task);
    default: return take_back_part(me, returned.task, returned.how);
    }
}

Task* take_task(Member& me, const Task* inside) {
    Team& team = me.team;
    if (!team.had_tasks()) return nullptr;
    const auto fits = [inside](const Task& task) { return inside == nullptr || is_inside(task, inside); };
    if (Task* const task = me.queue.take_newest(fits)) return task;
    // Several at once, so that threads seldom meet at a queue.
    constexpr std::size_t most_taken = 16;
    std::array<Task*, most_taken> taken;
    const int size = team.here();
    for (int i = 1; i < size; ++i) {
        Member& victim = team.member((me.place_here + i) % size);
        // A task of the next region, which this thread has not begun, was queued after that region began, under this
        // lock; so this thread sees the region's number.
        const std::size_t count = victim.queue.take_oldest([&] { return team.has_begun(me); }, fits,
                                                           std::span(taken).first(inside == nullptr ? most_taken : 1));
        if (count == 0) continue;
        if (count > 1) me.queue.push(std::span(taken).subspan(1, count - 1));
        return taken[0];
    }
    TaskExchange* const exchange = team.exchange();
    if (exchange == nullptr || inside != nullptr) return nullptr;
    const auto given = exchange->take_given([&] { return team.has_begun(me); });
    return given ? make_foreign_task(me, *given) : nullptr;
}

namespace {

/// If it has created tasks that have not ended, its rank learns of its own end at once.
void run_for_other(Member& me, Task* task) {
    const auto begin = platform::thread_time();
    Task* const before = std::exchange(me.task, task);
    if (!task->cancellable || !is_cancelled(me, *task)) task->function(task->data);
    me.task = before;
    Taskgroup& group = *task->group;
    const auto took = platform::thread_time() - begin;
    if (group.unfinished.load(std::memory_order_acquire) == 1) {
        group.took = took;
    } else {
        group.told_body = true;
        me.team.exchange()->end(group.origin, ReturnedTask::How::body_ended, took);
    }
    close_end(me, task);
}

} // namespace

void run_task(Member& me, Task* task) {
    if (task->foreign) [[unlikely]]
        return run_for_other(me, task);
    if (task->cancellable && is_cancelled(me, *task)) return discard(me, task);
    Task* const before = std::exchange(me.task, task);
    task->function(task->data);
    me.task = before;
    if (task->skipped) discard(me, task);
    else close_end(me, task);
}

void wait_for_children(Member& me) {
    Task& task = *me.task;
    if (task.has_children()) work_until(me, &task, [&] { return !task.has_children(); });
    task.children_dependences.reset(); // nothing that comes later need wait for any of them
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

bool end_group(Member& me) {
    const std::unique_ptr<Taskgroup> group(me.task->group);
    const auto ended = [&] { return group->unfinished.load(std::memory_order_acquire) == 0; };
    if (!ended()) work_until(me, me.task, ended);
    me.task->group = group->outer;
    return group->cancelled.load(std::memory_order_relaxed);
}

Event* make_event() {
    OtherRanks* const others = process().others();
    void* const memory = program_memory(sizeof(Event));
    if (memory == nullptr) refuse("there is no memory for the event of a detached task");
    if (others != nullptr) others->note_open_event();
    return new (memory) Event{nullptr, others != nullptr ? others->rank() : 0, nullptr};
}

void fulfill(Event* event) {
    if (OtherRanks* const others = process().others(); others != nullptr) {
        if (event->rank != others->rank()) return others->fulfill(*event);
        others->note_fulfilled_event();
    }
    Task* const created = event->task;
    std::free(event);
    if (created == nullptr) return;
    Task& task = *created;
    Member& creator = *task.creator;
    Team& team = creator.team;
    switch (task.open_ends.fetch_sub(1, std::memory_order_acq_rel)) {
    case 0: return drop(&task, Task::one_use); // it was discarded, and only its object has stayed
    case 1: break;
    default: return; // its body has not ended
    }
    if (the_member != nullptr && &the_member->team == &team)
        return complete(&task, *the_member, [] { count_finished(*the_member); });
    // This thread does not belong to the team, whose member's counter it must not write.
    complete(&task, creator, [&] { team.finished_elsewhere(); });
}

} // namespace kumiki::openmp
