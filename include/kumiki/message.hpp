#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kumiki/error.hpp"

namespace kumiki {

/// Matches any source or any tag.
inline constexpr int any = KUMIKI_ANY;

/// Describes a message.
struct MessageStatus {
    int source = any, tag = any;
    std::size_t bytes = 0;
    template <class T>
    std::size_t count() const noexcept {
        return bytes / sizeof(T);
    }
};

namespace detail {

inline MessageStatus status_of(const kumiki_message_status& status) {
    return {status.source, status.tag, status.bytes};
}

} // namespace detail

/// A send, receive, put or get in progress. Its memory must stay valid until it is complete. The destructor waits for
/// completion and ignores errors. While an exception propagates it does not wait, so that the failure shows at once.
class Request {
public:
    Request() = default;
    Request(kumiki_job* job, kumiki_request request)
        : job_(job), request_(request), exceptions_at_start_(request == nullptr ? 0 : std::uncaught_exceptions()) {}
    Request(Request&& other) noexcept
        : job_(other.job_),
          request_(std::exchange(other.request_, nullptr)),
          exceptions_at_start_(other.exceptions_at_start_) {}
    Request& operator=(Request&& other) noexcept {
        std::swap(job_, other.job_);
        std::swap(request_, other.request_);
        std::swap(exceptions_at_start_, other.exceptions_at_start_);
        return *this;
    }
    ~Request() {
        if (request_ != nullptr && std::uncaught_exceptions() <= exceptions_at_start_)
            kumiki_wait(job_, &request_, nullptr);
    }

    /// Waits until the request is complete; returns at once when it already is.
    MessageStatus wait() {
        kumiki_message_status status{};
        detail::check(kumiki_wait(job_, &request_, &status));
        return detail::status_of(status);
    }
    /// Non-blocking wait(): returns nothing when the request is not complete yet.
    std::optional<MessageStatus> test() {
        kumiki_message_status status{};
        int complete = 0;
        detail::check(kumiki_test(job_, &request_, &complete, &status));
        if (complete == 0) return std::nullopt;
        return detail::status_of(status);
    }
    /// Whether the request must still be completed by a wait or a successful test.
    bool open() const noexcept { return request_ != nullptr; }

private:
    friend void wait_all(std::span<Request> requests);
    friend struct Completed wait_any(std::span<Request> requests);
    kumiki_job* job_ = nullptr;
    kumiki_request request_ = nullptr;
    int exceptions_at_start_ = 0; ///< uncaught exceptions when an open request was made
};

/// Waits for all requests, which must belong to one job, then throws the first error, if any.
inline void wait_all(std::span<Request> requests) {
    std::array<kumiki_request, 64> handles;
    kumiki_status first = KUMIKI_OK;
    std::string sentence;
    for (; !requests.empty(); requests = requests.subspan(std::min(requests.size(), handles.size()))) {
        std::size_t open = 0;
        kumiki_job* job = nullptr;
        for (Request& each : requests.first(std::min(requests.size(), handles.size()))) {
            if (!each.open()) continue;
            job = each.job_;
            handles[open++] = std::exchange(each.request_, nullptr);
        }
        const kumiki_status outcome = open == 0 ? KUMIKI_OK : kumiki_wait_all(job, handles.data(), open, nullptr);
        if (outcome == KUMIKI_OK || first != KUMIKI_OK) continue;
        first = outcome;
        sentence = kumiki_error_message();
    }
    if (first != KUMIKI_OK) throw Error(first, sentence);
}

struct Completed {
    std::size_t place; ///< index of the request given to wait_any(); the number of requests when none was open
    MessageStatus status;
};

/// Waits until one of the requests is complete.
inline Completed wait_any(std::span<Request> requests) {
    std::vector<kumiki_request> handles;
    kumiki_job* job = nullptr;
    for (const Request& each : requests) {
        handles.push_back(each.request_);
        if (each.open()) job = each.job_;
    }
    if (job == nullptr) return {requests.size(), {}};
    std::size_t place = 0;
    kumiki_message_status status{};
    const kumiki_status outcome = kumiki_wait_any(job, handles.data(), handles.size(), &place, &status);
    requests[place].request_ = nullptr;
    detail::check(outcome);
    return {place, detail::status_of(status)};
}

} // namespace kumiki
