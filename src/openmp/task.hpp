#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "openmp/dependences.hpp"
#include "openmp/lock.hpp"
#include "openmp/settings.hpp"
#include "openmp/task_exchange.hpp"
#include "platform/memory.hpp"

namespace kumiki::openmp {

struct Member;

/// A taskgroup construct: it ends when all tasks that were created in it have ended. Around a task of another rank
/// there is one without a construct, which counts the task, too; that rank learns of its end.
struct Taskgroup {
    Taskgroup* outer = nullptr;
    std::atomic<long> unfinished{0};
    std::atomic<bool> cancelled{false};
    bool of_workshare = false;            ///< made for a worksharing construct with task reductions
    std::uint64_t number = 0;             ///< of that construct, at all ranks (OtherRanks)
    std::uintptr_t* reductions = nullptr; ///< gcc's description (reduction.hpp)
    void* reducers = nullptr;             ///< those of clang's programs (entry/kmp_reduction.cpp)
    TaskOrigin origin{};                  ///< of the task of another rank
    bool told_body = false;               ///< that rank knows that its body has ended
    std::chrono::nanoseconds took{};      ///< its body, if not

    bool is_of_foreign_task() const { return origin.task != nullptr; }
};

/// A task: that of a thread in a parallel region (implicit), or one that the program creates.
///
/// `state` counts two things in one word: the children that have not ended (the lower half), and whatever still needs
/// the object (the upper half): the task itself, and the objects of its children. An implicit task is never freed.
struct Task {
    static constexpr std::uint64_t one_child = 1, one_use = std::uint64_t{1} << 32;

    Task* parent = nullptr;
    void (*function)(void*) = nullptr;
    void* data = nullptr;
    std::atomic<std::uint64_t> state{one_use};
    Taskgroup* group = nullptr;
    Controls controls{};
    bool implicit = false;
    bool final = false;
    bool cancellable = true; ///< its data need no destruction by its body
    bool stays = false;      ///< its data mean something in this process only
    bool skipped = false;    ///< by its body itself, because it is cancelled
    bool is_large = false;   ///< longer than a block of its creator's (TaskBlocks)
    std::uint32_t bytes = 0; ///< of the data that another rank may have a copy of; 0: none may
    std::uint32_t alignment = 1;
    bool foreign = false;              ///< another rank has created it, and has given it to this one
    std::atomic<int> parts_ended{0};   ///< of the two of a task that another rank executes (ReturnedTask)
    std::atomic<int> open_ends{1};     ///< the body, and the event of a detached task; 0: it was discarded
    std::atomic<bool>* done = nullptr; ///< set at the end of a task for which its creator waits
    std::unique_ptr<DependenceTable> children_dependences;
    std::shared_ptr<DependenceNode> dependence;
    Member* creator = nullptr; ///< the member of the team that created it

    bool has_children() const { return static_cast<std::uint32_t>(state.load(std::memory_order_acquire)) != 0; }
};

/// What a program has of a detached task, in memory that all its processes see.
struct Event {
    Task* task; ///< in the process of this rank; null: it is not created yet, or never, because its region is cancelled
    int rank;
    Event* next; ///< that other processes have fulfilled (Events)
};
Event* make_event();

/// Memory for what a task has for itself, which all processes of the program see, if there are several: another one may
/// execute the task, or a region that it starts. Never null.
void* task_memory(std::size_t bytes, std::size_t alignment);
void free_task_memory(void* memory, std::size_t alignment);

/// Memory for the tasks that a thread creates: blocks that it has freed itself are used again. (Blocks that others have
/// freed lie in the caches of others; handing them back was measured to be slower than the C library's allocator.)
class TaskBlocks {
public:
    static constexpr std::size_t size = 448; ///< bytes of a block
    static constexpr std::size_t alignment = alignof(std::max_align_t);

    TaskBlocks() = default;
    ~TaskBlocks();
    TaskBlocks(const TaskBlocks&) = delete;
    TaskBlocks& operator=(const TaskBlocks&) = delete;

    void* take() { return kept_ == nullptr ? task_memory(size, alignment) : std::exchange(kept_, kept_->next); }
    void give(void* block) { kept_ = new (block) Kept{kept_}; }
    /// By a thread to which the blocks do not belong.
    static void free(void* block) { free_task_memory(block, alignment); }

private:
    struct Kept {
        Kept* next;
    };
    Kept* kept_ = nullptr;
};

/// The tasks that a thread has created, or that became ready in it, and that no thread has begun. Its owner takes the
/// newest, other threads the oldest.
class TaskQueue {
public:
    /// False if there is nothing to take; may be wrong about a change that is just happening.
    bool looks_empty() const { return size_.load(std::memory_order_relaxed) == 0; }
    std::size_t size() const { return size_.load(std::memory_order_relaxed); }

    void push(Task* task) { push(std::span(&task, 1)); }
    void push(std::span<Task* const> tasks);
    /// The task comes before all others, as one that another rank gives back: what its owner waits for is newer.
    void push_oldest(Task* task);
    /// The newest task for which `fits(task)` holds; none: nullptr.
    template <class Fits>
    Task* take_newest(Fits fits);
    /// Takes the oldest tasks that fit, as many as there is place for in `taken`, but not more than half of the queue,
    /// rounded up; returns how many. Also asks `allowed()`, under the lock.
    template <class Allowed, class Fits>
    std::size_t take_oldest(Allowed allowed, Fits fits, std::span<Task*> taken);

private:
    std::size_t at(std::size_t place) const { return place & (ring_.size() - 1); }
    Task* remove(std::size_t place, bool close_upwards);
    void enlarge();

    Lock lock_;
    std::atomic<std::size_t> size_{0};
    std::size_t head_ = 0, tail_ = 0; ///< places in the ring, modulo its length
    std::vector<Task*> ring_;         ///< its length is a power of two
};

inline void TaskQueue::push(std::span<Task* const> tasks) {
    const Holding holding(lock_);
    for (Task* const task : tasks) {
        if (tail_ - head_ == ring_.size()) enlarge();
        ring_[at(tail_++)] = task;
    }
    size_.store(tail_ - head_, std::memory_order_relaxed);
}

inline void TaskQueue::push_oldest(Task* task) {
    const Holding holding(lock_);
    if (tail_ - head_ == ring_.size()) enlarge();
    ring_[at(--head_)] = task;
    size_.store(tail_ - head_, std::memory_order_relaxed);
}

inline void TaskQueue::enlarge() {
    std::vector<Task*> larger(ring_.empty() ? 64 : 2 * ring_.size());
    for (std::size_t i = head_; i != tail_; ++i) larger[i - head_] = ring_[at(i)];
    tail_ -= head_;
    head_ = 0;
    ring_ = std::move(larger);
}

template <class Fits>
Task* TaskQueue::take_newest(Fits fits) {
    if (looks_empty()) return nullptr;
    const Holding holding(lock_);
    for (std::size_t i = tail_; i != head_; --i)
        if (fits(*ring_[at(i - 1)])) return remove(i - 1, true);
    return nullptr;
}

template <class Allowed, class Fits>
std::size_t TaskQueue::take_oldest(Allowed allowed, Fits fits, std::span<Task*> taken) {
    if (looks_empty()) return 0;
    const Holding holding(lock_);
    if (!allowed()) return 0;
    const std::size_t most = std::min(taken.size(), (tail_ - head_ + 1) / 2);
    std::size_t count = 0;
    for (std::size_t i = head_; i != tail_ && count < most; ++i)
        if (fits(*ring_[at(i)])) taken[count++] = remove(i, false);
    return count;
}

inline Task* TaskQueue::remove(std::size_t place, bool close_upwards) {
    Task* const task = ring_[at(place)];
    if (close_upwards) {
        for (; place + 1 != tail_; ++place) ring_[at(place)] = ring_[at(place + 1)];
        --tail_;
    } else {
        for (; place != head_; --place) ring_[at(place)] = ring_[at(place - 1)];
        ++head_;
    }
    size_.store(tail_ - head_, std::memory_order_relaxed);
    return task;
}

/// What GOMP_task gets.
struct TaskRequest {
    void (*function)(void*);
    void* data;
    void (*copy)(void* to, void* from); ///< nullptr: the data are bytes
    std::size_t size, alignment;        ///< of the data
    bool deferrable;
    bool final;
    const std::vector<Dependence>* dependences; ///< nullptr: none
    Event* event;                               ///< of a detached task; nullptr: it is not detached
    bool stays = false;                         ///< its data mean something in this process only
    bool is_part_of_loop = false;               ///< its data begin with its part of a taskloop, two words of `part`
    std::array<std::uint64_t, 2> part{};
};

/// Creates a task, and runs it at once or leaves it to the team.
void create_task(Member& me, const TaskRequest& request);

/// Takes a task of the team that may run now; nullptr: there is none. While a thread waits inside a task, it may run
/// only descendants of this task (`inside`), as OpenMP demands of tied tasks; at barriers, where `inside` is nullptr,
/// it may run every task.
Task* take_task(Member& me, const Task* inside);

/// Whether `task` need not run, because its region or group is cancelled.
bool is_cancelled(const Member& me, const Task& task);

/// A task that this rank has given to another one returns, or a part of it has ended there.
void take_back_task(Member& me, const ReturnedTask& returned);

/// A task whose body the program itself executes between these two calls.
void begin_task_here(Member& me, bool final);
void end_task_here(Member& me);

/// Runs a task that was taken.
void run_task(Member& me, Task* task);

void wait_for_children(Member& me);
/// Waits until the tasks before this one have ended that `dependences` names.
void wait_for_dependences(Member& me, const std::vector<Dependence>& dependences);

void begin_group(Member& me);
/// Returns whether it was cancelled.
bool end_group(Member& me);

/// The program fulfils the event of a detached task, whose memory is free then.
void fulfill(Event* event);

} // namespace kumiki::openmp
