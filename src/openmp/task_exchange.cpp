#include "openmp/task_exchange.hpp"

#include "openmp/process.hpp"
#include "openmp/team.hpp"

namespace kumiki::openmp {
namespace {

/// Whether another rank may execute the task. Events, and memory for reductions, belong to the rank, and no other one
/// would learn that the program cancels a group.
bool may_travel(const Member& me, const Task& task) {
    if (task.stays || task.open_ends.load(std::memory_order_relaxed) != 1 || !me.team.others()->has_code(task.function))
        return false;
    const bool cancels = process().environment().cancellation;
    for (const Taskgroup* group = task.group; group != nullptr; group = group->outer)
        if (group->reductions != nullptr || group->reducers != nullptr || group->of_workshare ||
            (cancels && !group->is_of_foreign_task()))
            return false;
    return true;
}

/// The oldest tasks of the team that may travel, from one queue, which keeps at least `kept` and at least half of them.
std::size_t take_for_other(Member& me, std::size_t kept, std::span<Task*> taken) {
    Team& team = me.team;
    for (int i = 0; i < team.here(); ++i) {
        TaskQueue& queue = team.member((me.place_here + i) % team.here()).queue;
        if (queue.size() <= kept) continue;
        const std::size_t count = queue.take_oldest([&] { return team.has_begun(me); },
                                                    [&](const Task& task) { return may_travel(me, task); }, taken);
        if (count != 0) return count;
    }
    return 0;
}

bool has_tasks(const Member& me, std::size_t more_than) {
    for (int place = 0; place < me.team.here(); ++place)
        if (me.team.member(place).queue.size() > more_than) return true;
    return false;
}

/// A thread that creates tasks goes on with something else; one that waits would only wait for its last task.
std::size_t kept_by(Doing doing) { return doing == Doing::creates ? 0 : 1; }

} // namespace

bool has_exchange(const Member& me, const TaskExchange& exchange, bool gives) {
    return exchange.has_news() || (gives && exchange.is_asked() && has_tasks(me, kept_by(Doing::waits)));
}

bool exchange_tasks(Member& me, TaskExchange& exchange, Doing doing) {
    Team& team = me.team;
    const bool has_news = exchange.has_news();
    // A worker may still be here when the next region has begun, whose tasks are none of its business. What has come
    // was asked for by a thread that had begun that region, so this thread sees the region's number if it sees the
    // news.
    if (!team.has_begun(me)) return true;
    if (has_news) {
        for (const ReturnedTask& returned : exchange.take_news()) take_back_task(me, returned);
        team.ring();
    }
    const std::size_t kept = kept_by(doing);
    bool gave = true;
    if (exchange.is_asked() && (has_tasks(me, kept) || exchange.has_given()))
        gave = exchange.give([&](std::span<Task*> tasks) { return take_for_other(me, kept, tasks); });
    if (doing != Doing::creates) exchange.tell_ended();
    if (doing == Doing::nothing && !has_tasks(me, 0) && !exchange.has_given()) exchange.ask();
    return gave;
}

} // namespace kumiki::openmp
