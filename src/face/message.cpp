// The C interface of two-sided messages.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "face/job.hpp"

using kumiki::face::is_refused;
using kumiki::face::refuse_call;
using kumiki::face::report;
using kumiki::message::Request;
using kumiki::message::Status;
using kumiki::trace::Span;

namespace {

Request* request_of(kumiki_request request) { return reinterpret_cast<Request*>(request); }

void tell(const Status& from, kumiki_message_status* status) {
    if (status != nullptr) *status = {from.source, from.tag, from.bytes};
}

/// `lowest_tag` is 0 for a sender, which must also name a rank, and KUMIKI_ANY for a receiver.
[[gnu::noinline]] kumiki_status refuse(const kumiki_job* job, const char* name, int rank, int tag, int lowest_tag,
                                       const void* result) {
    const bool is_rank = job->fabric->has_rank(rank) || (rank == KUMIKI_ANY && lowest_tag == KUMIKI_ANY);
    if (!is_rank) return report(job->fabric->memory().refusal(name, rank, nullptr, 0));
    if (tag < lowest_tag)
        return report({KUMIKI_ERROR_ARGUMENT,
                       fmt::format("{}: there is no tag {}; tags are whole numbers from 0 on", name, tag)});
    return report({KUMIKI_ERROR_ARGUMENT,
                   fmt::format("{}: the address of the {} is null", name, result == nullptr ? "result" : "data")});
}

bool may_be_source(const kumiki_job* job, int rank) { return rank == KUMIKI_ANY || job->fabric->has_rank(rank); }
bool may_be_asked_for(int tag) { return tag >= KUMIKI_ANY; }

kumiki_status ended(const kumiki::Result<Status>& outcome, kumiki_message_status* status) {
    if (!outcome) return report(outcome.error());
    tell(*outcome, status);
    return KUMIKI_OK;
}

kumiki_status no_address(const char* name) {
    return report(
        {KUMIKI_ERROR_ARGUMENT, fmt::format("{}: the address of the request or of the result is null", name)});
}

} // namespace

kumiki_status kumiki_send(kumiki_job* job, int rank, int tag, const void* data, size_t bytes, kumiki_request* request) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "send");
    if (!job->fabric->has_rank(rank) || tag < 0 || (data == nullptr && bytes > 0) || request == nullptr) [[unlikely]]
        return refuse(job, "send", rank, tag, 0, request);
    const Span span(job->fabric->trace(), "send", rank, bytes);
    auto sent = job->messages->send(rank, tag, {static_cast<const std::byte*>(data), bytes});
    if (!sent) [[unlikely]]
        return report(sent.error());
    *request = reinterpret_cast<kumiki_request>(*sent);
    return KUMIKI_OK;
}

kumiki_status kumiki_receive(kumiki_job* job, int rank, int tag, void* into, size_t bytes, kumiki_request* request) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "receive");
    if (!may_be_source(job, rank) || !may_be_asked_for(tag) || (into == nullptr && bytes > 0) || request == nullptr)
        [[unlikely]]
        return refuse(job, "receive", rank, tag, KUMIKI_ANY, request);
    *request =
        reinterpret_cast<kumiki_request>(&job->messages->receive(rank, tag, {static_cast<std::byte*>(into), bytes}));
    return KUMIKI_OK;
}

kumiki_status kumiki_wait(kumiki_job* job, kumiki_request* request, kumiki_message_status* status) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "wait");
    if (request == nullptr) [[unlikely]]
        return no_address("wait");
    if (*request == nullptr) {
        tell({}, status);
        return KUMIKI_OK;
    }
    const Span span(job->fabric->trace(), "wait");
    return ended(job->messages->wait(*request_of(std::exchange(*request, nullptr))), status);
}

kumiki_status kumiki_test(kumiki_job* job, kumiki_request* request, int* complete, kumiki_message_status* status) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "test");
    if (request == nullptr || complete == nullptr) [[unlikely]]
        return no_address("test");
    *complete = 1;
    if (*request == nullptr) {
        tell({}, status);
        return KUMIKI_OK;
    }
    const auto outcome = job->messages->test(*request_of(*request));
    *complete = outcome ? 1 : 0;
    if (!outcome) return KUMIKI_OK;
    *request = nullptr;
    return ended(*outcome, status);
}

kumiki_status kumiki_wait_any(kumiki_job* job, kumiki_request* requests, size_t count, size_t* place,
                              kumiki_message_status* status) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "wait_any");
    if (requests == nullptr || place == nullptr) [[unlikely]]
        return no_address("wait_any");
    const std::span<Request* const> all(reinterpret_cast<Request* const*>(requests), count);
    if (std::ranges::all_of(all, [](const Request* request) { return request == nullptr; })) {
        *place = count;
        tell({}, status);
        return KUMIKI_OK;
    }
    const Span span(job->fabric->trace(), "wait_any");
    *place = job->messages->wait_any(all);
    return kumiki_wait(job, &requests[*place], status);
}

kumiki_status kumiki_wait_all(kumiki_job* job, kumiki_request* requests, size_t count,
                              kumiki_message_status* statuses) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "wait_all");
    if (requests == nullptr && count > 0) [[unlikely]]
        return no_address("wait_all");
    kumiki::Result<> first;
    for (std::size_t place = 0; statuses != nullptr && place < count; ++place) tell({}, &statuses[place]);
    job->messages->wait_all({reinterpret_cast<Request* const*>(requests), count},
                            [&](std::size_t place, const kumiki::Result<Status>& outcome) {
                                if (outcome && statuses != nullptr) tell(*outcome, &statuses[place]);
                                if (!outcome && first) first = tl::unexpected(outcome.error());
                            });
    std::fill_n(requests, count, nullptr);
    return report(first);
}

kumiki_status kumiki_probe(kumiki_job* job, int rank, int tag, int* found, kumiki_message_status* status) {
    if (is_refused(job)) [[unlikely]]
        return refuse_call(job, "probe");
    if (!may_be_source(job, rank) || !may_be_asked_for(tag) || status == nullptr) [[unlikely]]
        return refuse(job, "probe", rank, tag, KUMIKI_ANY, status);
    if (found == nullptr) {
        tell(job->messages->wait_probe(rank, tag), status);
        return KUMIKI_OK;
    }
    const auto arrived = job->messages->probe(rank, tag);
    *found = arrived ? 1 : 0;
    if (arrived) tell(*arrived, status);
    return KUMIKI_OK;
}
