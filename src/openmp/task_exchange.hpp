#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "openmp/settings.hpp"

namespace kumiki::openmp {

struct Member;
struct Task;

/// Where a task was created that travels.
struct TaskOrigin {
    int rank = -1;        ///< -1: in this rank
    Task* task = nullptr; ///< there
};

/// A task that travels, or waits in a rank that has not created it.
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
        ended,      ///< with all that it has created
        body_ended, ///< the first part of that; the other one follows, or comes first
        rest_ended,
        not_executed
    };
    Task* task;
    How how;
};

/// How the ranks execute tasks for each other in a region that all of them run (docs/decisions/openmp-tasks.md). A rank
/// with threads that have nothing to do asks the others, and one that has tasks gives it some: work stealing, in which
/// the owner hands over what is stolen, because only it can make its memory visible.
///
/// A task still belongs to the rank that has created it, and counts there until the task and all that it has created
/// have ended. So a rank whose threads have all come to a barrier, and whose own tasks have ended, will have no tasks
/// of its own again before the barrier opens: it is *quiet*. When all ranks are quiet, there is no task left anywhere,
/// and they may meet. (Those that wait for the task's own end, as dependences do, go on when its body has ended.)
///
/// Tasks of others that no thread has begun wait apart from the rank's own. The rank that has created them recalls them
/// when it waits: the threads of this one may be busy for long, or be waiting for a lock that a task of that one holds.
class TaskExchange {
public:
    virtual ~TaskExchange() = default;

    /// Whether there is something for take_news().
    virtual bool has_news() const = 0;
    /// The tasks that have come back. What other ranks have written to memory before they gave or returned tasks can be
    /// seen then.
    virtual std::vector<ReturnedTask> take_news() = 0;
    /// Whether tasks of other ranks wait to be executed, some of which take_given() may not return before take_news().
    virtual bool has_given() const = 0;
    /// One of them; none: there is none, or `allowed()`, which is called under a lock, returns false.
    virtual std::optional<GivenTask> take_given(const std::function<bool()>& allowed) = 0;

    /// Whether another rank asks for tasks.
    virtual bool is_asked() const = 0;
    /// Gives tasks to a rank that asks: some of those of other ranks, or else what `take(tasks)` puts there, which
    /// returns how many; these with what this rank has written to memory. Returns false if there were none.
    virtual bool give(const std::function<std::size_t(std::span<Task*>)>& take) = 0;

    /// A task of another rank, or a part of it, has ended here, which took so long. The other rank learns of it now or
    /// at tell_ended(), so that short tasks may share a message.
    virtual void end(const TaskOrigin& origin, ReturnedTask::How how, std::chrono::nanoseconds took) = 0;
    virtual void tell_ended() = 0;
    /// A thread of this rank has nothing to do: asks the others for tasks, unless those that they gave last were not
    /// worth their messages; then a while later.
    virtual void ask() = 0;

    /// The number of barriers at which the ranks have met; it tells the intervals between them apart.
    virtual std::uint64_t interval() const = 0;
    /// Tells the others that this rank is quiet in this interval. Returns whether all ranks are.
    virtual bool tell_quiet(std::uint64_t interval) = 0;
    /// Whether tell_quiet() would tell them nothing new, and return false.
    virtual bool waits_for_others() const = 0;

    /// Waits until ready() is true, which must send nothing, or ask() is to be called again. Meanwhile it recalls
    /// tasks of this rank that others have not begun.
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
