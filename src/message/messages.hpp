#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "error/result.hpp"
#include "fabric/staged.hpp"
#include "message/request_table.hpp"
#include "message/agent.hpp"
#include "message/far.hpp"
#include "message/near.hpp"

namespace kumiki::message {

/// Two-sided messages between ranks (Maestro/MMP paper, section 4): one rank sends with a tag, another receives by
/// source and tag. All calls are thread-safe.
///
/// Only the functions named wait... wait. Sends and receives make progress while any thread of the rank waits for
/// anything and, between hosts, while its agent runs.
class Messages final : fabric::ProgressHook {
public:
    struct Options {
        std::size_t fragment = 0; ///< bytes; 0: the library's own rule on each way (KUMIKI_FRAGMENT)
        Ways ways;
        /// With that rule, the longest fragments on a host and between hosts (`kumiki tune`); 0: the library's default.
        std::size_t longest_near = 0, longest_far = 0;
        std::size_t reserve = std::size_t{32} << 20; ///< bytes (KUMIKI_RESERVE)
    };
    Messages(fabric::Fabric& fabric, const Options& options);
    ~Messages() override {
        agent_.stop();
        table_.fabric.progress().hooks().remove(*this);
    }
    Messages(const Messages&) = delete;
    /// Starts the agent, which receives long messages of this host while the program computes.
    Result<> start_agent() { return agent_.start(); }
    Messages& operator=(const Messages&) = delete;

    /// Sends to a rank that exists, with a tag of at least 0. Returns null when the message is complete and `data` may
    /// be reused; otherwise `data` may be reused after wait() or a successful test().
    Result<Request*> send(int rank, int tag, std::span<const std::byte> data);
    /// Posts a receive; `source` and `tag` may be `any`.
    Request& receive(int source, int tag, std::span<std::byte> into);

    /// Opens a request for a transfer between this rank's memory `own` and `rank` that is not a message: `own` is read
    /// if its bytes are const, and written otherwise. start(data, done) begins the transfer from or to `data`, and sets
    /// `done` to true when it is complete.
    template <class Byte, class Start>
    Result<Request*> start(int rank, std::span<Byte> own, Start start);

    /// Waits for a request and ends it; it must not be used afterwards. Fails when the message is longer than the
    /// receive: the message is lost, and even its first bytes need not have been stored.
    Result<Status> wait(Request& request);
    /// Waits for all requests and ends them; null requests are skipped. Calls told(place, outcome) for each of the
    /// others.
    template <class Told>
    void wait_all(std::span<Request* const> requests, Told told);
    /// Non-blocking wait(): returns nothing when the request is not complete yet.
    std::optional<Result<Status>> test(Request& request);
    /// Waits until one of the requests is complete and returns its index; null requests are skipped. At least one must
    /// not be null.
    std::size_t wait_any(std::span<Request* const> requests);

    /// Describes the message that a receive with this source and tag would get, without receiving it.
    std::optional<Status> probe(int source, int tag);
    Status wait_probe(int source, int tag);

    /// Resources in use; all zero when every message has been received and every send completed.
    struct Usage {
        int slots = 0;            ///< slots in use of the areas that other ranks of this host have for this rank
        std::size_t arrivals = 0; ///< unexpected messages
    };
    Usage usage();
    /// Fragments that this rank has moved so far.
    std::uint64_t fragments() const { return table_.fragments.load(std::memory_order_relaxed) + near_.filled_slots(); }

private:
    void progress() override;
    void doubt() override { near_.call_agents(); }
    void leave();
    Result<Status> end(Request& request);
    static void keep(Request& request, std::unique_ptr<std::byte[]> copy, std::byte* program);
    static void close(Request& request);
    Result<Status> outcome(const Request& request) const;
    Failure too_long(const Request& request) const;

    RequestTable table_;
    Near near_;
    Agent agent_;
    std::unique_ptr<Far> far_; ///< null when all ranks are on this host
};

template <class Byte, class Start>
Result<Request*> Messages::start(int rank, std::span<Byte> own, Start start) {
    fabric::Staged<Byte> staged(own);
    Request& request = [&]() -> Request& {
        const std::lock_guard lock(table_.lock);
        return table_.open(rank, any, nullptr, own.size());
    }();
    if (Result<> started = start(staged.data(), request.done); !started) {
        Pool<Request>::give_back(request);
        return tl::unexpected(started.error());
    }
    if constexpr (std::is_const_v<Byte>) keep(request, staged.take(), nullptr);
    else keep(request, staged.take(), own.data());
    return &request;
}

template <class Told>
void Messages::wait_all(std::span<Request* const> requests, Told told) {
    leave();
    for (std::size_t place = 0; place < requests.size(); ++place) {
        if (requests[place] == nullptr) continue;
        const Request& request = *requests[place];
        table_.fabric.progress().wait([&] { return request.done.load(std::memory_order_acquire); });
        told(place, outcome(request));
    }
    for (Request* each : requests)
        if (each != nullptr) close(*each);
}

} // namespace kumiki::message
