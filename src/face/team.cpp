// The C interface of teams.
#include "team/team.hpp"

#include "face/job.hpp"

using kumiki::face::report;

struct kumiki_team {
    std::unique_ptr<kumiki::team::Team> team;
};

kumiki_status kumiki_team_create(kumiki_job* job, int threads, kumiki_team** team) {
    if (team == nullptr) return report({KUMIKI_ERROR_ARGUMENT, "team_create: the address for the team is null"});
    auto made = kumiki::team::Team::create(*job->fabric, *job->collectives, threads == 0 ? kumiki_threads(job) : threads, job->settings.cpus);
    if (!made) return report(made.error());
    *team = new kumiki_team{std::move(*made)};
    return KUMIKI_OK;
}

void kumiki_team_destroy(kumiki_team* team) { delete team; }

int kumiki_team_size(const kumiki_team* team) { return team->team->size(); }

kumiki_status kumiki_team_run(kumiki_team* team, void (*function)(void*, int), void* context) {
    if (function == nullptr) return report({KUMIKI_ERROR_ARGUMENT, "team_run: the function is null"});
    return report(team->team->run(function, context));
}

kumiki_status kumiki_team_barrier(kumiki_team* team, int thread) { return report(team->team->barrier(thread)); }
kumiki_status kumiki_team_barrier_all(kumiki_team* team, int thread) { return report(team->team->barrier_all(thread)); }
void kumiki_team_break(kumiki_team* team, int) { team->team->break_up(); }

kumiki_status kumiki_team_reduce(kumiki_team* team, int thread, void* data, size_t count, kumiki_type type, kumiki_operation operation) {
    return report(team->team->reduce(thread, data, count, type, operation));
}

kumiki_status kumiki_team_reduce_all(kumiki_team* team, int thread, void* data, size_t count, kumiki_type type,
                                     kumiki_operation operation) {
    return report(team->team->reduce_all(thread, data, count, type, operation));
}
