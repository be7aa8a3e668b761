#include "openmp/task_exchange.hpp"

#include <algorithm>
#include <array>

#include "openmp/team.hpp"

namespace kumiki::openmp {
namespace {

/// Whether another rank may execute the task. Events, and memory for reductions, belong to the rank.
bool may_travel(const Member& me, const Task& task) {
    if (task.stays || task.open_ends.load(std::memory_order_relaxed) != 1 || !me.team.others()->has_code(task.function))
        return false;
    for (const Taskgroup* group = task.group; group != nullptr; group = group->outer)
        if (group->reductions != nullptr || group->reducers != nullptr || group->of_workshare) return false;
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
        if (count == 0) continue;
        for (const Task* const task : taken.first(count))
            if (task->is_foreign()) team.waiting_foreign_tasks().fetch_sub(1, std::memory_order_relaxed);
        return count;
    }
    return 0;
}

bool has_tasks(const Member& me, std::size_t more_than) {
    for (int place = 0; place < me.team.here(); ++place)
        if (me.team.member(place).queue.size() > more_than) return true;
    return false;
}

void give_back_tasks(Member& me, TaskExchange& exchange) {
    Team& team = me.team;
    if (team.waiting_foreign_tasks().load(std::memory_order_relaxed) == 0) return;
    std::array<Task*, 16> taken;
    for (int place = 0; place < team.here(); ++place) {
        const auto take = [&] {
            return team.member(place).queue.take_oldest([&] { return team.has_begun(me); },
                                                        [](const Task& task) { return task.is_foreign(); }, taken);
        };
        while (const std::size_t count = take())
            for (Task* const task : std::span(taken).first(count)) {
                exchange.give_back(task->origin);
                forget_task(me, task);
            }
    }
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
        TaskExchange::News news = exchange.take_news();
        for (const ReturnedTask& returned : news.returned) take_back_task(me, returned);
        std::ranges::reverse(news.given); // the thread takes the newest from its queue
        for (const GivenTask& given : news.given) accept_task(me, given);
        team.ring();
    }
    const std::size_t kept = kept_by(doing);
    bool gave = true;
    if (exchange.is_asked() && has_tasks(me, kept))
        gave = exchange.give([&](std::span<Task*> tasks) { return take_for_other(me, kept, tasks); });
    if (doing == Doing::waits) give_back_tasks(me, exchange);
    if (doing != Doing::creates) exchange.tell_ended();
    if (doing == Doing::nothing && !has_tasks(me, 0)) exchange.ask();
    return gave;
}

} // namespace kumiki::openmp
