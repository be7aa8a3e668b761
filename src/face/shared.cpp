// The C interface of shared arrays.
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "dsm/shape.hpp"
#include "face/job.hpp"

using kumiki::face::is_refused;
using kumiki::face::refuse_call;
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

/// Nothing if there is no such way to deal a dimension.
std::optional<kumiki::Distribution::Dimension> dimension_of(const kumiki_dimension& dimension) {
    using How = kumiki::Distribution::Dimension::How;
    switch (dimension.deal) {
    case KUMIKI_DEAL_WHOLE: return {{.how = How::whole, .extent = dimension.extent}};
    case KUMIKI_DEAL_BLOCK: return {{.how = How::block, .extent = dimension.extent}};
    case KUMIKI_DEAL_CYCLIC:
        return {{.how = How::cyclic, .extent = dimension.extent, .length = std::max<std::size_t>(dimension.length, 1)}};
    }
    return {};
}

kumiki::Result<kumiki::dsm::Shape> shape_of(std::size_t element, std::span<const kumiki_dimension> dimensions) {
    std::vector<kumiki::Distribution::Dimension> all;
    for (const kumiki_dimension& each : dimensions) {
        const auto one = dimension_of(each);
        if (!one)
            return kumiki::fail(KUMIKI_ERROR_ARGUMENT, "shared_allocate_dimensions: there is no such way to deal a "
                                                       "dimension; they are whole, block, and cyclic");
        all.push_back(*one);
    }
    return kumiki::dsm::Shape::of(element, std::move(all));
}

/// What both calls that allocate arrays do.
kumiki_status allocate(kumiki_job* job, kumiki::Result<kumiki::dsm::Shape> shape, size_t page, kumiki_homes homes,
                       void** memory) {
    const auto refuse = [job](const kumiki::Failure& failure) {
        return report(job->all.collectives->refuse(tl::unexpected(failure)));
    };
    if (memory == nullptr) return refuse({KUMIKI_ERROR_ARGUMENT, "shared_allocate: the address for the array is null"});
    if (!shape) return refuse(shape.error());
    const auto placement = placement_of(homes);
    if (!placement)
        return refuse({KUMIKI_ERROR_ARGUMENT, "shared_allocate: there are no such homes; they are block, cyclic, "
                                              "first, relocated, or managed"});
    auto allocated = job->shared->allocate(*shape, page, *placement);
    if (!allocated) return report(allocated.error());
    *memory = *allocated;
    return KUMIKI_OK;
}

template <class Call>
kumiki_status with_locks(kumiki_job* job, const char* operation, Call call) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, operation);
    const Span span(job->fabric->trace(), operation);
    const auto locks = job->shared->locks(operation);
    if (!locks) return report(locks.error());
    return report(call(**locks));
}

} // namespace

kumiki_status kumiki_shared_allocate(kumiki_job* job, size_t bytes, size_t page, kumiki_homes homes, void** memory) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "shared_allocate");
    return allocate(job, kumiki::dsm::Shape::of_bytes(bytes), page, homes, memory);
}

kumiki_status kumiki_shared_allocate_dimensions(kumiki_job* job, size_t element, const kumiki_dimension* dimensions,
                                                int count, size_t page, kumiki_homes homes, void** memory) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "shared_allocate_dimensions");
    const std::size_t given = dimensions == nullptr || count < 0 ? 0 : static_cast<std::size_t>(count);
    return allocate(job, shape_of(element, {dimensions, given}), page, homes, memory);
}

kumiki_status kumiki_shared_own(kumiki_job* job, const void* array, int dimension, size_t from, size_t* begin,
                                size_t* end) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "shared_own");
    if (begin == nullptr || end == nullptr)
        return report({KUMIKI_ERROR_ARGUMENT, "shared_own: an address for the indexes is null"});
    if (dimension < 0) return report({KUMIKI_ERROR_ARGUMENT, "shared_own: the number of the dimension is negative"});
    const auto run = job->shared->own(array, static_cast<std::size_t>(dimension), from);
    if (!run) return report(run.error());
    *begin = run->begin;
    *end = run->end;
    return KUMIKI_OK;
}

kumiki_status kumiki_shared_malloc(kumiki_job* job, size_t bytes, void** memory) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "shared_malloc");
    if (memory == nullptr) return report({KUMIKI_ERROR_ARGUMENT, "shared_malloc: the address for the block is null"});
    const auto heap = job->shared->heap("shared_malloc");
    if (!heap) return report(heap.error());
    const auto block = (*heap)->allocate(bytes);
    if (!block) return report(block.error());
    *memory = *block;
    return KUMIKI_OK;
}

kumiki_status kumiki_shared_free(kumiki_job* job, void* memory) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "shared_free");
    if (memory == nullptr) return KUMIKI_OK;
    const auto heap = job->shared->heap("shared_free");
    if (!heap) return report(heap.error());
    return report((*heap)->release(memory));
}

kumiki_status kumiki_shared_release(kumiki_job* job, void* memory) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "shared_release");
    return report(job->shared->release(memory));
}

kumiki_status kumiki_shared_set_protocol(kumiki_job* job, const void* address, kumiki_protocol protocol) {
    using kumiki::SharedProtocol;
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "shared_set_protocol");
    const Span span(job->fabric->trace(), "shared_set_protocol");
    const auto set = [&](SharedProtocol chosen) { return report(job->shared->set_protocol(address, chosen)); };
    switch (protocol) {
    case KUMIKI_PROTOCOL_DEFAULT: return set(job->settings.shared_protocol);
    case KUMIKI_PROTOCOL_INVALIDATE: return set(SharedProtocol::invalidate);
    case KUMIKI_PROTOCOL_UPDATE: return set(SharedProtocol::update);
    }
    return report(job->all.collectives->refuse(
        kumiki::fail(KUMIKI_ERROR_ARGUMENT,
                     "shared_set_protocol: there is no such protocol; they are default, invalidate, and update")));
}

kumiki_status kumiki_shared_barrier(kumiki_job* job) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "shared_barrier");
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
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "home_first");
    return report(job->shared->open_homes(address, pages));
}

kumiki_status kumiki_shared_home(kumiki_job* job, const void* address, int* rank) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "shared_home");
    if (rank == nullptr) return report({KUMIKI_ERROR_ARGUMENT, "shared_home: the address for the rank is null"});
    const auto home = job->shared->home(address);
    if (!home) return report(home.error());
    *rank = *home;
    return KUMIKI_OK;
}

kumiki_status kumiki_shared_count(kumiki_job* job, const void* address, kumiki_shared_counters* counters) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "shared_count");
    if (counters == nullptr)
        return report({KUMIKI_ERROR_ARGUMENT, "shared_count: the address for the counters is null"});
    const auto counted = job->shared->counters(address);
    if (!counted) return report(counted.error());
    *counters = *counted;
    return KUMIKI_OK;
}

const char* kumiki_shared_mechanism(const kumiki_job* job) {
    return is_refused(job) ? "none" : job->shared->mechanism();
}
