// The C interface of teams.
#include <fmt/format.h>

#include "face/job.hpp"
#include "team/team.hpp"

using kumiki::face::refuse_child;
using kumiki::face::report;

struct kumiki_team : kumiki::platform::InOwnPages {
    std::unique_ptr<kumiki::team::Team> team;
    kumiki::trace::Trace* trace;
};

kumiki_status kumiki_team_create(kumiki_job* job, int threads, kumiki_team** team) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("team_create");
    if (team == nullptr) return report({KUMIKI_ERROR_ARGUMENT, "team_create: the address for the team is null"});
    auto made = kumiki::team::Team::create(*job->fabric, *job->all.collectives,
                                           threads == 0 ? kumiki_threads(job) : threads, job->settings.cpus);
    if (!made) return report(made.error());
    *team = new kumiki_team{{}, std::move(*made), job->fabric->trace()};
    return KUMIKI_OK;
}

void kumiki_team_destroy(kumiki_team* team) {
    // In a forked child the team's threads do not exist, so they cannot be ended.
    if (team != nullptr && team->team != nullptr) delete team;
}

int kumiki_team_size(const kumiki_team* team) { return team->team == nullptr ? -1 : team->team->size(); }

kumiki_status kumiki_team_run(kumiki_team* team, void (*function)(void*, int), void* context) {
    if (team->team == nullptr) [[unlikely]]
        return refuse_child("team_run");
    if (function == nullptr) return report({KUMIKI_ERROR_ARGUMENT, "team_run: the function is null"});
    return report(team->team->run(function, context));
}

namespace {

/// Runs a call as a thread of the team, after checking the thread's number, because any other would index outside the
/// team's memory.
template <class Call>
kumiki_status as_member(kumiki_team* team, const char* operation, int thread, Call call) {
    if (team->team == nullptr) [[unlikely]]
        return refuse_child(operation);
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
    if (team->team != nullptr && thread >= 0 && thread < team->team->size()) team->team->break_up(thread);
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
