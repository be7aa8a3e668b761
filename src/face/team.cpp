// The C interface of teams.
#include <algorithm>
#include <fmt/format.h>
#include <ranges>

#include "face/job.hpp"
#include "platform/thread.hpp"

using kumiki::face::is_refused;
using kumiki::face::refuse_call;
using kumiki::face::report;

namespace {

/// The latest team that this thread has created, which is thread 0 of it; null: there is none.
const kumiki_team* latest_of_this_thread(const kumiki_job& job) {
    for (const auto& team : job.teams | std::views::reverse)
        if (team->creator == std::this_thread::get_id()) return team.get();
    return nullptr;
}

/// When a team has ended, its creator is bound as thread 0 of another team of its own, or as it was before the first.
void restore_binding(const kumiki_job& job, const std::vector<int>& creators_cpus) {
    if (job.settings.cpus.empty()) return;
    if (const kumiki_team* const latest = latest_of_this_thread(job)) latest->team->bind(0);
    else kumiki::platform::bind_to_cpus(creators_cpus);
}

} // namespace

kumiki_status kumiki_team_create(kumiki_job* job, int threads, kumiki_team** team) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "team_create");
    if (team == nullptr) return report({KUMIKI_ERROR_ARGUMENT, "team_create: the address for the team is null"});
    auto made = std::make_unique<kumiki_team>();
    made->job = job;
    made->trace = job->fabric->trace();
    made->creator = std::this_thread::get_id();
    const std::lock_guard lock(job->made_mutex);
    const kumiki_team* const latest = latest_of_this_thread(*job);
    made->creators_cpus = latest != nullptr ? latest->creators_cpus : kumiki::platform::usable_cpus();
    auto started =
        kumiki::team::Team::create(*job->fabric, *job->all.collectives, threads == 0 ? kumiki_threads(job) : threads,
                                   job->settings.cpus, made->creators_cpus.size());
    if (!started) {
        restore_binding(*job, made->creators_cpus);
        return report(started.error());
    }
    made->team = std::move(*started);
    *team = made.get();
    job->teams.push_back(std::move(made));
    return KUMIKI_OK;
}

void kumiki_team_destroy(kumiki_team* team) {
    // In a forked child the team's threads do not exist, so they cannot be ended.
    if (is_refused(team)) return;
    kumiki_job& job = *team->job;
    std::unique_ptr<kumiki_team> gone;
    {
        const std::lock_guard lock(job.made_mutex);
        const auto found = std::ranges::find(job.teams, team, &std::unique_ptr<kumiki_team>::get);
        gone = std::move(*found);
        job.teams.erase(found);
        if (gone->creator == std::this_thread::get_id()) restore_binding(job, gone->creators_cpus);
    }
}

int kumiki_team_size(const kumiki_team* team) { return is_refused(team) ? -1 : team->team->size(); }

kumiki_status kumiki_team_run(kumiki_team* team, void (*function)(void*, int), void* context) {
    if (is_refused(team)) [[unlikely]]
        return refuse_call(team, "team_run");
    if (function == nullptr) return report({KUMIKI_ERROR_ARGUMENT, "team_run: the function is null"});
    return report(team->team->run(function, context));
}

namespace {

/// Runs a call as a thread of the team, after checking the thread's number, because any other would index outside the
/// team's memory.
template <class Call>
kumiki_status as_member(kumiki_team* team, const char* operation, int thread, Call call) {
    if (is_refused(team)) [[unlikely]]
        return refuse_call(team, operation);
    if (thread < 0 || thread >= team->team->size()) [[unlikely]]
        return report({KUMIKI_ERROR_ARGUMENT, fmt::format("{}: there is no thread {}; the team has threads 0 to {}",
                                                          operation, thread, team->team->size() - 1)});
    const kumiki::trace::Span span(team->trace, operation);
    return report(call(*team->team));
}

} // namespace

kumiki_status kumiki_team_barrier(kumiki_team* team, int thread) {
    return as_member(team, "team_barrier", thread, [&](auto& mine) { return mine.barrier(thread); });
}

kumiki_status kumiki_team_barrier_all(kumiki_team* team, int thread) {
    return as_member(team, "team_barrier_all", thread, [&](auto& mine) { return mine.barrier_all(thread); });
}

void kumiki_team_break(kumiki_team* team, int thread) {
    if (!is_refused(team) && thread >= 0 && thread < team->team->size()) team->team->break_up(thread);
}

kumiki_status kumiki_team_reduce(kumiki_team* team, int thread, void* data, size_t count, kumiki_type type,
                                 kumiki_operation operation) {
    return as_member(team, "team_reduce", thread,
                     [&](auto& mine) { return mine.reduce(thread, data, count, type, operation); });
}

kumiki_status kumiki_team_reduce_all(kumiki_team* team, int thread, void* data, size_t count, kumiki_type type,
                                     kumiki_operation operation) {
    return as_member(team, "team_reduce_all", thread,
                     [&](auto& mine) { return mine.reduce_all(thread, data, count, type, operation); });
}
