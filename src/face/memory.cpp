// The C interface of regions, put, get, signals and atomics: the fast paths. Everything up to the copy is inline here.
#include "face/job.hpp"
#include "fabric/signal.hpp"

using kumiki::fabric::raise;
using kumiki::face::is_refused;
using kumiki::face::refuse_call;
using kumiki::face::report;
using kumiki::trace::Span;

kumiki_status kumiki_allocate(kumiki_job* job, size_t bytes, void** memory) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "allocate");
    if (memory == nullptr)
        return report(job->all.collectives->refuse(
            kumiki::fail(KUMIKI_ERROR_ARGUMENT, "allocate: the address for the region is null")));
    auto allocated = job->all.collectives->allocate(bytes);
    if (!allocated) return report(allocated.error());
    *memory = *allocated;
    return KUMIKI_OK;
}

kumiki_status kumiki_release(kumiki_job* job, void* memory) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "release");
    return report(job->all.collectives->release(memory));
}

kumiki_status kumiki_peer(kumiki_job* job, int rank, const void* own, void** there) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "peer");
    if (there == nullptr) return report({KUMIKI_ERROR_ARGUMENT, "peer: the address for the result is null"});
    std::byte* translated = job->fabric->memory().translate(rank, own, 1);
    if (translated == nullptr && !job->fabric->memory().remote(rank, own, 1))
        return report(job->fabric->memory().refusal("peer", rank, own, 1));
    *there = translated;
    return KUMIKI_OK;
}

namespace {

using kumiki::fabric::Fabric;

using kumiki::fabric::Network;

// -- targets that are not on this host: reached over the network, or refused --

kumiki::Failure no_data(const char* operation) {
    return {KUMIKI_ERROR_ARGUMENT, std::string(operation) + ": the address of the own data is null"};
}

[[gnu::noinline]] kumiki_status put_elsewhere(const Fabric& fabric, const char* operation, int rank, void* there,
                                              const void* source, size_t bytes, const Network::Signal* signal) {
    if (source == nullptr && bytes > 0) return report(no_data(operation));
    if (!fabric.memory().remote(rank, there, bytes))
        return report(fabric.memory().refusal(operation, rank, there, bytes));
    const std::uint64_t offset = bytes > 0 ? fabric.memory().offset(there) : 0;
    return report(fabric.network()->put(rank, offset, {static_cast<const std::byte*>(source), bytes}, signal));
}

[[gnu::noinline]] kumiki_status get_elsewhere(const Fabric& fabric, int rank, const void* there, void* destination,
                                              size_t bytes) {
    if (destination == nullptr) return report(no_data("get"));
    if (!fabric.memory().remote(rank, there, bytes)) return report(fabric.memory().refusal("get", rank, there, bytes));
    return report(
        fabric.network()->get(rank, fabric.memory().offset(there), {static_cast<std::byte*>(destination), bytes}));
}

/// There is nothing to move, but the rank must exist.
kumiki_status nothing(const Fabric& fabric, const char* operation, int rank, const void* own) {
    return fabric.has_rank(rank) ? KUMIKI_OK : report(fabric.memory().refusal(operation, rank, own, 0));
}

bool is_operation(kumiki_signal_operation operation) {
    return operation == KUMIKI_SIGNAL_SET || operation == KUMIKI_SIGNAL_ADD;
}

kumiki_status no_operation(const char* name, kumiki_signal_operation operation) {
    return report(
        {KUMIKI_ERROR_ARGUMENT, std::string(name) + ": there is no signal operation " + std::to_string(operation)});
}

/// Waits until satisfied(word) and returns the value seen. The loop writes nothing until it ends: a spin that stores
/// what it sees fills the store buffer, and the reply of the waiting thread would queue behind those stores.
template <class Satisfied>
std::uint64_t wait_for(Fabric& fabric, std::atomic_ref<std::uint64_t> word, Satisfied satisfied) {
    std::uint64_t seen = 0;
    fabric.progress().wait([&] {
        const std::uint64_t now = word.load(std::memory_order_acquire);
        if (!satisfied(now)) return false;
        seen = now;
        return true;
    });
    return seen;
}

bool is_comparison(kumiki_comparison comparison) { return comparison >= KUMIKI_EQUAL && comparison <= KUMIKI_LESS; }

/// Calls use(satisfied) with the predicate of the comparison with `value`. Each comparison gets its own code, so that a
/// loop does not branch on the comparison in every iteration.
template <class Use>
auto with_comparison(kumiki_comparison comparison, std::uint64_t value, Use use) {
    switch (comparison) {
    case KUMIKI_EQUAL: return use([value](std::uint64_t seen) { return seen == value; });
    case KUMIKI_NOT_EQUAL: return use([value](std::uint64_t seen) { return seen != value; });
    case KUMIKI_AT_LEAST: return use([value](std::uint64_t seen) { return seen >= value; });
    case KUMIKI_LESS: break;
    }
    return use([value](std::uint64_t seen) { return seen < value; });
}

[[gnu::noinline]] kumiki_status refuse_signal(const Fabric& fabric, const char* name, const std::uint64_t* signal,
                                              kumiki_comparison comparison) {
    if (fabric.memory().word(fabric.rank(), signal) == nullptr)
        return report(fabric.memory().refusal(name, fabric.rank(), signal, sizeof(*signal)));
    return report(
        {KUMIKI_ERROR_ARGUMENT, std::string(name) + ": there is no comparison " + std::to_string(comparison)});
}

} // namespace

kumiki_status kumiki_put(kumiki_job* job, int rank, void* there, const void* source, size_t bytes) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "put");
    const Fabric& fabric = *job->fabric;
    const Span span(fabric.trace(), "put", rank, bytes);
    if (bytes == 0) [[unlikely]]
        return nothing(fabric, "put", rank, there);
    std::byte* to = fabric.memory().translate(rank, there, bytes);
    if (to == nullptr || source == nullptr) [[unlikely]]
        return put_elsewhere(fabric, "put", rank, there, source, bytes, nullptr);
    fabric.memory().copy(to, source, bytes);
    return KUMIKI_OK;
}

kumiki_status kumiki_get(kumiki_job* job, int rank, const void* there, void* destination, size_t bytes) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "get");
    const Fabric& fabric = *job->fabric;
    const Span span(fabric.trace(), "get", rank, bytes);
    if (bytes == 0) [[unlikely]]
        return nothing(fabric, "get", rank, there);
    const std::byte* from = fabric.memory().translate(rank, there, bytes);
    if (from == nullptr || destination == nullptr) [[unlikely]]
        return get_elsewhere(fabric, rank, there, destination, bytes);
    fabric.memory().copy(destination, from, bytes);
    return KUMIKI_OK;
}

namespace {

/// Begins a transfer between `own` and a rank of another host by calling start(network, offset there, data, done).
template <class Byte, class Start>
kumiki_status start_elsewhere(kumiki_job* job, const char* operation, int rank, const void* there, std::span<Byte> own,
                              kumiki_request* request, Start start) {
    const Fabric& fabric = *job->fabric;
    if (own.data() == nullptr) return report(no_data(operation));
    if (!fabric.memory().remote(rank, there, own.size()))
        return report(fabric.memory().refusal(operation, rank, there, own.size()));
    const auto started = job->messages->start(rank, own, [&](std::span<Byte> data, std::atomic<bool>& done) {
        return start(*fabric.network(), fabric.memory().offset(there), data, done);
    });
    if (!started) return report(started.error());
    *request = reinterpret_cast<kumiki_request>(*started);
    return KUMIKI_OK;
}

kumiki_status no_request(const char* operation) {
    return report({KUMIKI_ERROR_ARGUMENT, std::string(operation) + ": the address of the request is null"});
}

} // namespace

kumiki_status kumiki_start_put(kumiki_job* job, int rank, void* there, const void* source, size_t bytes,
                               kumiki_request* request) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "start_put");
    if (request == nullptr) return no_request("start_put");
    *request = nullptr;
    const Fabric& fabric = *job->fabric;
    const Span span(fabric.trace(), "start_put", rank, bytes);
    if (bytes == 0) return nothing(fabric, "start_put", rank, there);
    std::byte* to = fabric.memory().translate(rank, there, bytes);
    if (to == nullptr || source == nullptr)
        return start_elsewhere(job, "start_put", rank, there, std::span(static_cast<const std::byte*>(source), bytes),
                               request,
                               [rank](Network& network, std::uint64_t offset, std::span<const std::byte> data,
                                      std::atomic<bool>& done) { return network.start_put(rank, offset, data, done); });
    fabric.memory().copy(to, source, bytes);
    return KUMIKI_OK;
}

kumiki_status kumiki_start_get(kumiki_job* job, int rank, const void* there, void* destination, size_t bytes,
                               kumiki_request* request) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "start_get");
    if (request == nullptr) return no_request("start_get");
    *request = nullptr;
    const Fabric& fabric = *job->fabric;
    const Span span(fabric.trace(), "start_get", rank, bytes);
    if (bytes == 0) return nothing(fabric, "start_get", rank, there);
    const std::byte* from = fabric.memory().translate(rank, there, bytes);
    if (from == nullptr || destination == nullptr)
        return start_elsewhere(job, "start_get", rank, there, std::span(static_cast<std::byte*>(destination), bytes),
                               request,
                               [rank](Network& network, std::uint64_t offset, std::span<std::byte> data,
                                      std::atomic<bool>& done) { return network.start_get(rank, offset, data, done); });
    fabric.memory().copy(destination, from, bytes);
    return KUMIKI_OK;
}

namespace {

[[gnu::noinline]] kumiki_status signal_elsewhere(const Fabric& fabric, const char* name, int rank, void* there,
                                                 const void* source, size_t bytes, uint64_t* signal,
                                                 kumiki_signal_operation operation, uint64_t value) {
    if (!fabric.memory().remote_word(rank, signal))
        return report(fabric.memory().refusal(name, rank, signal, sizeof(*signal)));
    if (!is_operation(operation)) return no_operation(name, operation);
    const Network::Signal raised{fabric.memory().offset(signal), operation, value};
    return put_elsewhere(fabric, name, rank, there, source, bytes, &raised);
}

} // namespace

kumiki_status kumiki_signal(kumiki_job* job, int rank, uint64_t* signal, kumiki_signal_operation operation,
                            uint64_t value) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "signal");
    const Fabric& fabric = *job->fabric;
    const Span span(fabric.trace(), "signal", rank);
    auto* word = fabric.memory().word(rank, signal);
    if (word == nullptr) [[unlikely]]
        return signal_elsewhere(fabric, "signal", rank, nullptr, nullptr, 0, signal, operation, value);
    if (!is_operation(operation)) [[unlikely]]
        return no_operation("signal", operation);
    raise(std::atomic_ref(*word), operation, value);
    fabric.progress().ring(rank);
    return KUMIKI_OK;
}

kumiki_status kumiki_put_signal(kumiki_job* job, int rank, void* there, const void* source, size_t bytes,
                                uint64_t* signal, kumiki_signal_operation operation, uint64_t value) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "put_signal");
    const Fabric& fabric = *job->fabric;
    const Span span(fabric.trace(), "put_signal", rank, bytes);
    // Check both addresses before writing anything.
    auto* word = fabric.memory().word(rank, signal);
    if (word == nullptr) [[unlikely]]
        return signal_elsewhere(fabric, "put_signal", rank, there, source, bytes, signal, operation, value);
    if (!is_operation(operation)) [[unlikely]]
        return no_operation("put_signal", operation);
    if (bytes > 0) [[likely]] {
        std::byte* to = fabric.memory().translate(rank, there, bytes);
        if (to == nullptr || source == nullptr) [[unlikely]]
            return put_elsewhere(fabric, "put_signal", rank, there, source, bytes, nullptr);
        fabric.memory().copy(to, source, bytes);
    }
    raise(std::atomic_ref(*word), operation, value);
    fabric.progress().ring(rank);
    return KUMIKI_OK;
}

kumiki_status kumiki_signal_wait(kumiki_job* job, const uint64_t* signal, kumiki_comparison comparison, uint64_t value,
                                 uint64_t* seen) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "signal_wait");
    Fabric& fabric = *job->fabric;
    const Span span(fabric.trace(), "signal_wait");
    auto* word = fabric.memory().word(fabric.rank(), signal);
    if (word == nullptr || !is_comparison(comparison)) [[unlikely]]
        return refuse_signal(fabric, "signal_wait", signal, comparison);
    const std::uint64_t last = with_comparison(
        comparison, value, [&](auto satisfied) { return wait_for(fabric, std::atomic_ref(*word), satisfied); });
    if (seen != nullptr) *seen = last;
    return KUMIKI_OK;
}

kumiki_status kumiki_signal_test(kumiki_job* job, const uint64_t* signal, kumiki_comparison comparison, uint64_t value,
                                 int* satisfied, uint64_t* seen) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "signal_test");
    Fabric& fabric = *job->fabric;
    auto* word = fabric.memory().word(fabric.rank(), signal);
    if (word == nullptr || !is_comparison(comparison)) [[unlikely]]
        return refuse_signal(fabric, "signal_test", signal, comparison);
    if (satisfied == nullptr) [[unlikely]]
        return report({KUMIKI_ERROR_ARGUMENT, "signal_test: the address for the result is null"});
    std::uint64_t now = 0;
    const auto look = [&] {
        now = std::atomic_ref(*word).load(std::memory_order_acquire);
        return with_comparison(comparison, value, [now](auto compares) { return compares(now); });
    };
    bool is_satisfied = look();
    if (!is_satisfied) {
        fabric.progress().look();
        is_satisfied = look();
    }
    *satisfied = is_satisfied ? 1 : 0;
    if (seen != nullptr) *seen = now;
    return KUMIKI_OK;
}

namespace {

/// Performs one atomic operation on a word of rank `rank`. The word may be a signal, so threads that wait there are
/// woken.
template <class Operate, class OperateElsewhere>
kumiki_status atomically(kumiki_job* job, const char* name, int rank, uint64_t* there, uint64_t* before,
                         Operate operate, OperateElsewhere operate_elsewhere) {
    const Fabric& fabric = *job->fabric;
    const Span span(fabric.trace(), name, rank, sizeof(*there));
    std::uint64_t old = 0;
    if (auto* word = fabric.memory().word(rank, there); word != nullptr) [[likely]] {
        old = operate(std::atomic_ref(*word));
        fabric.progress().ring(rank);
    } else {
        if (!fabric.memory().remote_word(rank, there))
            return report(fabric.memory().refusal(name, rank, there, sizeof(*there)));
        const auto changed = operate_elsewhere(*fabric.network(), fabric.memory().offset(there));
        if (!changed) return report(changed.error());
        old = *changed;
    }
    if (before != nullptr) *before = old;
    return KUMIKI_OK;
}

} // namespace

kumiki_status kumiki_fetch_add(kumiki_job* job, int rank, uint64_t* there, uint64_t value, uint64_t* before) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "fetch_add");
    return atomically(
        job, "fetch_add", rank, there, before, [&](auto word) { return word.fetch_add(value); },
        [&](Network& network, std::uint64_t offset) {
            return network.change(rank, Network::Atomic::fetch_add, offset, value);
        });
}

kumiki_status kumiki_compare_swap(kumiki_job* job, int rank, uint64_t* there, uint64_t expected, uint64_t desired,
                                  uint64_t* before) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "compare_swap");
    return atomically(
        job, "compare_swap", rank, there, before,
        [&](auto word) {
            std::uint64_t old = expected;
            word.compare_exchange_strong(old, desired);
            return old;
        },
        [&](Network& network, std::uint64_t offset) {
            return network.change(rank, Network::Atomic::compare_swap, offset, desired, expected);
        });
}

kumiki_status kumiki_swap(kumiki_job* job, int rank, uint64_t* there, uint64_t value, uint64_t* before) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "swap");
    return atomically(
        job, "swap", rank, there, before, [&](auto word) { return word.exchange(value); },
        [&](Network& network, std::uint64_t offset) {
            return network.change(rank, Network::Atomic::swap, offset, value);
        });
}
