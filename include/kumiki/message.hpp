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

/// In place of a source or a tag: any of them.
inline constexpr int any = KUMIKI_ANY;

/// What has come.
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

/// A send, receive, put or get that is under way; its memory must stay until it is complete. The destructor waits for
/// it and keeps silent about errors; but not while an exception is under way, so that the failure is seen at once.
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

    /// Returns at once when it is complete already.
    MessageStatus wait() {
        kumiki_message_status status{};
        detail::check(kumiki_wait(job_, &request_, &status));
        return detail::status_of(status);
    }
    /// The same without waiting: nothing when it is not complete yet.
    std::optional<MessageStatus> test() {
        kumiki_message_status status{};
        int complete = 0;
        detail::check(kumiki_test(job_, &request_, &complete, &status));
        if (complete == 0) return std::nullopt;
        return detail::status_of(status);
    }
    /// Whether somebody still has to wait for it.
    bool open() const noexcept { return request_ != nullptr; }

private:
    friend void wait_all(std::span<Request> requests);
    friend struct Completed wait_any(std::span<Request> requests);
    kumiki_job* job_ = nullptr;
    kumiki_request request_ = nullptr;
    int exceptions_at_start_ = 0; ///< of a request that is open
};

/// Waits for all of them, which are of one job; then throws the first error there was.
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
    std::size_t place; ///< in what wait_any() was given; its size when no request was open
    MessageStatus status;
};

/// Waits for one of them.
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
