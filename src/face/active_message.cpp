// The C interface of active messages.
#include <fmt/format.h>

#include "face/job.hpp"

using kumiki::face::is_refused;
using kumiki::face::refuse_call;
using kumiki::face::report;
using kumiki::trace::Span;

kumiki_status kumiki_register_handler(kumiki_job* job, kumiki_handler function, void* context, int* handler) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "register_handler");
    if (function == nullptr || handler == nullptr)
        return report(job->all.collectives->refuse(kumiki::fail(
            KUMIKI_ERROR_ARGUMENT, "register_handler: the function or the address for its number is null")));
    auto number =
        job->all.collectives->add_handler([job, function, context](int source, std::span<const std::byte> payload) {
            function(job, source, payload.data(), payload.size(), context);
        });
    if (!number) return report(number.error());
    *handler = *number;
    return KUMIKI_OK;
}

kumiki_status kumiki_active_message(kumiki_job* job, int rank, int handler, const void* payload, size_t bytes) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "active_message");
    auto& fabric = *job->fabric;
    auto& messenger = fabric.messenger();
    const Span span(fabric.trace(), "active_message", rank, bytes);
    if (!fabric.has_rank(rank)) return report(fabric.memory().refusal("active_message", rank, nullptr, 0));
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
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "progress");
    if (auto* network = job->fabric->network()) network->poll();
    const int ran = job->fabric->messenger().poll();
    if (handled != nullptr) *handled = ran;
    return KUMIKI_OK;
}
