// The C interface of shared arrays.
#include <optional>

#include "face/job.hpp"

using kumiki::face::refuse_child;
using kumiki::face::report;
using kumiki::trace::Span;

namespace {

std::optional<kumiki::dsm::Placement> placement_of(kumiki_homes homes) {
    using kumiki::dsm::Placement;
    switch (homes) {
    case KUMIKI_HOMES_BLOCK: return Placement::block;
    case KUMIKI_HOMES_CYCLIC: return Placement::cyclic;
    case KUMIKI_HOMES_FIRST: return Placement::first;
    case KUMIKI_HOMES_RELOCATED: return Placement::relocated;
    case KUMIKI_HOMES_MANAGED: return Placement::managed;
    }
    return {};
}

template <class Call>
kumiki_status with_locks(kumiki_job* job, const char* operation, Call call) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child(operation);
    const Span span(job->fabric->trace(), operation);
    const auto locks = job->shared->locks(operation);
    if (!locks) return report(locks.error());
    return report(call(**locks));
}

} // namespace

kumiki_status kumiki_shared_allocate(kumiki_job* job, size_t bytes, size_t page, kumiki_homes homes, void** memory) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("shared_allocate");
    if (memory == nullptr)
        return report(job->all.collectives->refuse(
            kumiki::fail(KUMIKI_ERROR_ARGUMENT, "shared_allocate: the address for the array is null")));
    const auto placement = placement_of(homes);
    if (!placement)
        return report(job->all.collectives->refuse(
            kumiki::fail(KUMIKI_ERROR_ARGUMENT, "shared_allocate: there are no such homes; they are block, cyclic, "
                                                "first, relocated, or managed")));
    auto allocated = job->shared->allocate(bytes, page, *placement);
    if (!allocated) return report(allocated.error());
    *memory = *allocated;
    return KUMIKI_OK;
}

kumiki_status kumiki_shared_release(kumiki_job* job, void* memory) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("shared_release");
    return report(job->shared->release(memory));
}

kumiki_status kumiki_shared_barrier(kumiki_job* job) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("shared_barrier");
    const Span span(job->fabric->trace(), "shared_barrier");
    return report(job->shared->barrier());
}

kumiki_status kumiki_shared_lock(kumiki_job* job, int lock) {
    return with_locks(job, "shared_lock", [lock](kumiki::dsm::Locks& locks) { return locks.acquire(lock); });
}

kumiki_status kumiki_shared_trylock(kumiki_job* job, int lock, int* taken) {
    return with_locks(job, "shared_trylock", [lock, taken](kumiki::dsm::Locks& locks) -> kumiki::Result<> {
        if (taken == nullptr)
            return kumiki::fail(KUMIKI_ERROR_ARGUMENT, "shared_trylock: the address for the answer is null");
        const auto has = locks.try_acquire(lock);
        if (!has) return tl::unexpected(has.error());
        *taken = *has ? 1 : 0;
        return {};
    });
}

kumiki_status kumiki_shared_unlock(kumiki_job* job, int lock) {
    return with_locks(job, "shared_unlock", [lock](kumiki::dsm::Locks& locks) { return locks.release(lock); });
}

kumiki_status kumiki_home_first(kumiki_job* job, const void* address, size_t pages) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("home_first");
    return report(job->shared->open_homes(address, pages));
}

kumiki_status kumiki_shared_home(kumiki_job* job, const void* address, int* rank) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("shared_home");
    if (rank == nullptr) return report({KUMIKI_ERROR_ARGUMENT, "shared_home: the address for the rank is null"});
    const auto home = job->shared->home(address);
    if (!home) return report(home.error());
    *rank = *home;
    return KUMIKI_OK;
}

kumiki_status kumiki_shared_count(kumiki_job* job, const void* address, kumiki_shared_counters* counters) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("shared_count");
    if (counters == nullptr)
        return report({KUMIKI_ERROR_ARGUMENT, "shared_count: the address for the counters is null"});
    const auto counted = job->shared->counters(address);
    if (!counted) return report(counted.error());
    *counters = *counted;
    return KUMIKI_OK;
}

const char* kumiki_shared_mechanism(const kumiki_job* job) {
    return job->is_inherited() ? "none" : job->shared->mechanism();
}
