#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "openmp/settings.hpp"

namespace kumiki::openmp {

struct Member;
struct Task;

/// A task of another rank.
struct TaskOrigin {
    int rank = -1;        ///< -1: the task is this rank's own
    Task* task = nullptr; ///< there
};

/// A task that another rank has given to this one.
struct GivenTask {
    TaskOrigin origin;
    void (*function)(void*);
    void* data; ///< in memory that all ranks see; null: they are `bytes`
    std::size_t alignment;
    Controls controls;
    bool final, cancellable;
    std::vector<std::byte> bytes;
};

/// A task that this rank has given to another one.
struct ReturnedTask {
    enum class How : std::uint32_t {
        ended, ///< with all that it has created
        cancelled_group,
        not_executed
    };
    Task* task;
    How how;
};

/// How the ranks execute tasks for each other in a region that all of them run (docs/decisions/openmp-tasks.md). A rank
/// with threads that have nothing to do asks the others, and one that has tasks gives it some: work stealing, in which
/// the owner hands over what is stolen, because only it can make its memory visible.
///
/// A task still belongs to the rank that has created it: it has ended there when the other rank has told so, which that
/// one does when the task and all that it has created have ended. So a rank whose threads have all come to a barrier,
/// and whose own tasks have ended, will have no tasks of its own again before the barrier opens: it is *quiet*. When
/// all ranks are quiet, there is no task left anywhere, and they may meet.
///
/// A rank gives tasks back that no thread has begun when one of its threads waits inside a task, and so may execute
/// only what that task has created: the rank to which they belong may be waiting for them, and, by way of other tasks,
/// this one for that rank.
class TaskExchange {
public:
    virtual ~TaskExchange() = default;

    /// Whether there is something for take_news().
    virtual bool has_news() const = 0;
    struct News {
        std::vector<ReturnedTask> returned;
        std::vector<GivenTask> given;
    };
    /// What has come from other ranks, and, with it, what they have written to memory before.
    virtual News take_news() = 0;

    /// Whether another rank asks for tasks.
    virtual bool is_asked() const = 0;
    /// Calls take(tasks), which returns how many tasks it has put there, and gives them to a rank that asks, together
    /// with what this rank has written to memory. Returns false if there were none.
    virtual bool give(const std::function<std::size_t(std::span<Task*>)>& take) = 0;

    /// A task of another rank, with all that it has created, has ended here, which took so long. The other rank learns
    /// of it now or at tell_ended(), so that short tasks may share a message.
    virtual void end(const TaskOrigin& origin, ReturnedTask::How how, std::chrono::nanoseconds took) = 0;
    virtual void tell_ended() = 0;
    /// No thread of this rank has begun the task, and none will.
    virtual void give_back(const TaskOrigin& origin) = 0;
    /// A thread of this rank has nothing to do: asks the others for tasks, unless those that they gave last were not
    /// worth their messages; then a while later.
    virtual void ask() = 0;

    /// The number of barriers at which the ranks have met; it tells the intervals between them apart.
    virtual std::uint64_t interval() const = 0;
    /// Tells the others that this rank is quiet in this interval. Returns whether all ranks are.
    virtual bool tell_quiet(std::uint64_t interval) = 0;
    /// Whether tell_quiet() would tell them nothing new, and return false.
    virtual bool waits_for_others() const = 0;

    /// Waits until ready() is true, which must send nothing, or ask() is to be called again.
    virtual void wait(const std::function<bool()>& ready) = 0;
    /// Lets the threads that wait look again.
    virtual void ring() = 0;
};

/// What a thread does when it exchanges tasks.
enum class Doing {
    creates, ///< a task, which any rank may have
    waits,   ///< inside a task, and may execute only tasks that this one has created
    nothing  ///< it may execute any task
};

/// Takes in what has come from other ranks, gives tasks to those that ask, and asks them. Returns false if a rank asks
/// in vain though there are tasks.
bool exchange_tasks(Member& me, TaskExchange& exchange, Doing doing);

/// Whether exchange_tasks() would take something in, or, if it `gives`, try to give tasks that a waiting thread can
/// spare.
bool has_exchange(const Member& me, const TaskExchange& exchange, bool gives);

} // namespace kumiki::openmp
