// The C interface of active messages and collectives.
#include <fmt/format.h>

#include "face/job.hpp"

using kumiki::collective::Collectives;
using kumiki::face::refuse_child;
using kumiki::face::report;
using kumiki::trace::Span;

kumiki_status kumiki_register_handler(kumiki_job* job, kumiki_handler function, void* context, int* handler) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("register_handler");
    if (function == nullptr || handler == nullptr)
        return report(job->collectives->refuse(kumiki::fail(
            KUMIKI_ERROR_ARGUMENT, "register_handler: the function or the address for its number is null")));
    auto number =
        job->collectives->add_handler([job, function, context](int source, std::span<const std::byte> payload) {
            function(job, source, payload.data(), payload.size(), context);
        });
    if (!number) return report(number.error());
    *handler = *number;
    return KUMIKI_OK;
}

kumiki_status kumiki_active_message(kumiki_job* job, int rank, int handler, const void* payload, size_t bytes) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("active_message");
    auto& fabric = *job->fabric;
    auto& messenger = fabric.messenger();
    const Span span(fabric.trace(), "active_message", rank, bytes);
    if (!fabric.has_rank(rank)) return report(fabric.refusal("active_message", rank, nullptr, 0));
    if (handler < 0 || handler >= messenger.handlers())
        return report({KUMIKI_ERROR_ARGUMENT, fmt::format("active_message: there is no handler {}; {} are registered",
                                                          handler, messenger.handlers())});
    if (bytes > KUMIKI_ACTIVE_MESSAGE_MAX)
        return report({KUMIKI_ERROR_ARGUMENT, fmt::format("active_message: {} bytes are more than the {} of an active "
                                                          "message; put the data and announce them by one",
                                                          bytes, KUMIKI_ACTIVE_MESSAGE_MAX)});
    if (payload == nullptr && bytes > 0)
        return report({KUMIKI_ERROR_ARGUMENT, "active_message: the address of the payload is null"});
    messenger.send(rank, handler, {static_cast<const std::byte*>(payload), bytes});
    return KUMIKI_OK;
}

kumiki_status kumiki_progress(kumiki_job* job, int* handled) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("progress");
    if (auto* network = job->fabric->network()) network->poll();
    const int ran = job->fabric->messenger().poll();
    if (handled != nullptr) *handled = ran;
    return KUMIKI_OK;
}

kumiki_status kumiki_barrier(kumiki_job* job) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("barrier");
    const Span span(job->fabric->trace(), "barrier");
    return report(job->collectives->barrier());
}

kumiki_status kumiki_barrier_enter(kumiki_job* job) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("barrier_enter");
    const Span span(job->fabric->trace(), "barrier_enter");
    return report(job->collectives->barrier_enter());
}

kumiki_status kumiki_barrier_wait(kumiki_job* job) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("barrier_wait");
    const Span span(job->fabric->trace(), "barrier_wait");
    return report(job->collectives->barrier_wait());
}

kumiki_status kumiki_broadcast(kumiki_job* job, void* data, size_t bytes, int root) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("broadcast");
    const Span span(job->fabric->trace(), "broadcast");
    return report(job->collectives->broadcast(data, bytes, root));
}

kumiki_status kumiki_reduce(kumiki_job* job, const void* input, void* output, size_t count, kumiki_type type,
                            kumiki_operation operation, int root) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("reduce");
    const Span span(job->fabric->trace(), "reduce");
    return report(job->collectives->reduce(input, output, count, type, operation, root));
}

kumiki_status kumiki_all_reduce(kumiki_job* job, const void* input, void* output, size_t count, kumiki_type type,
                                kumiki_operation operation) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("all_reduce");
    const Span span(job->fabric->trace(), "all_reduce");
    return report(job->collectives->reduce(input, output, count, type, operation, Collectives::every_rank));
}

kumiki_status kumiki_all_to_all(kumiki_job* job, const void* input, void* output, size_t bytes) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("all_to_all");
    const Span span(job->fabric->trace(), "all_to_all");
    const Collectives::Pieces pieces{[bytes](int) { return bytes; },
                                     [bytes](int rank) { return static_cast<std::size_t>(rank) * bytes; }};
    return report(job->collectives->all_to_all(input, pieces, output, pieces));
}

kumiki_status kumiki_all_to_all_v(kumiki_job* job, const void* input, const size_t* input_bytes,
                                  const size_t* input_offsets, void* output, const size_t* output_bytes,
                                  const size_t* output_offsets) {
    if (job->is_inherited()) [[unlikely]]
        return refuse_child("all_to_all_v");
    const Span span(job->fabric->trace(), "all_to_all_v");
    if (input_bytes == nullptr || input_offsets == nullptr || output_bytes == nullptr || output_offsets == nullptr)
        return report(job->collectives->refuse(
            kumiki::fail(KUMIKI_ERROR_ARGUMENT, "all_to_all_v: a table of sizes or offsets is null")));
    const auto pieces = [](const size_t* bytes, const size_t* offsets) {
        return Collectives::Pieces{[bytes](int rank) { return bytes[rank]; },
                                   [offsets](int rank) { return offsets[rank]; }};
    };
    return report(job->collectives->all_to_all(input, pieces(input_bytes, input_offsets), output,
                                               pieces(output_bytes, output_offsets)));
}
