// The C interface of groups: making and freeing them, and querying their members.
#include <algorithm>
#include <span>

#include "face/job.hpp"

using kumiki::collective::Collectives;
using kumiki::face::on_group;
using kumiki::face::report;

namespace {

/// Adds a group that a collective has made to the groups of the job.
template <class Make>
kumiki_status make(kumiki_group* group, const char* operation, kumiki_group** made, Make make) {
    return on_group(group, operation, [&](Collectives& all) -> kumiki::Result<> {
        if (made == nullptr)
            return all.refuse(kumiki::fail(KUMIKI_ERROR_ARGUMENT,
                                           std::string(operation) + ": the address for the new group is null"));
        auto members = make(all);
        if (!members) return tl::unexpected(members.error());
        *made = nullptr;
        if (*members == nullptr) return {};
        auto fresh = std::make_unique<kumiki_group>();
        fresh->job = group->job;
        fresh->members = std::move(*members);
        fresh->collectives = std::make_unique<Collectives>(*fresh->members);
        *made = fresh.get();
        const std::lock_guard lock(group->job->made_mutex);
        group->job->groups.push_back(std::move(fresh));
        return {};
    });
}

/// Returns null when there is no group, or when this process is a forked child of the rank.
const kumiki::fabric::Group* members_of(const kumiki_group* group) {
    return kumiki::face::is_refused(group) ? nullptr : &group->collectives->group();
}

} // namespace

kumiki_group* kumiki_job_group(kumiki_job* job) { return job == nullptr ? nullptr : &job->all; }

kumiki_status kumiki_group_split(kumiki_group* group, int colour, int key, kumiki_group** made) {
    return make(group, "split", made, [&](Collectives& all) { return all.split(colour, key); });
}

kumiki_status kumiki_group_create(kumiki_group* group, const int* ranks, size_t count, kumiki_group** made) {
    return make(group, "group_create", made,
                [&](Collectives& all) -> kumiki::Result<std::unique_ptr<kumiki::fabric::Group>> {
                    if (ranks == nullptr && count > 0)
                        return tl::unexpected(
                            all.refuse(kumiki::fail(KUMIKI_ERROR_ARGUMENT, "group_create: the list is null")).error());
                    return all.subgroup(std::span(ranks, count));
                });
}

kumiki_status kumiki_group_free(kumiki_group** group) {
    if (group == nullptr || *group == nullptr) return KUMIKI_OK;
    if ((*group)->is_inherited()) return kumiki::face::refuse_call(*group, "group_free");
    kumiki_job* const job = (*group)->job;
    if (*group == &job->all)
        return report({KUMIKI_ERROR_ARGUMENT, "group_free: this is the job's own group, which ends with the job"});
    std::unique_ptr<kumiki_group> gone;
    {
        const std::lock_guard lock(job->made_mutex);
        const auto found = std::ranges::find(job->groups, *group, &std::unique_ptr<kumiki_group>::get);
        gone = std::move(*found);
        job->groups.erase(found);
    }
    *group = nullptr;
    return KUMIKI_OK;
}

int kumiki_group_rank(const kumiki_group* group) {
    const auto* const members = members_of(group);
    return members == nullptr ? -1 : members->rank();
}

int kumiki_group_size(const kumiki_group* group) {
    const auto* const members = members_of(group);
    return members == nullptr ? -1 : members->size();
}

int kumiki_group_rank_in_job(const kumiki_group* group, int rank) {
    const auto* const members = members_of(group);
    return members == nullptr || !members->has_rank(rank) ? -1 : members->rank_in_job(rank);
}

int kumiki_group_rank_of(const kumiki_group* group, int rank_in_job) {
    const auto* const members = members_of(group);
    return members == nullptr ? -1 : members->number_of(rank_in_job);
}
