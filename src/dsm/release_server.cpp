#include "dsm/release_server.hpp"

#include <utility>

#include "platform/thread.hpp"

namespace kumiki::dsm {

Result<std::unique_ptr<ReleaseServer>> ReleaseServer::start(Locks& locks, int lock) {
    std::unique_ptr<ReleaseServer> server(new ReleaseServer(locks, lock));
    auto started = platform::start_worker("releases what this rank has written",
                                          [&made = *server](const std::stop_token& stop) { made.serve(stop); });
    if (!started) return tl::unexpected(started.error());
    server->thread_ = std::move(*started);
    locks.serve_releases([&made = *server](Waiter waiter) { made.ask(waiter); });
    return server;
}

void ReleaseServer::ask(Waiter waiter) {
    {
        const std::lock_guard lock(mutex_);
        waiters_.push_back(waiter);
    }
    asked_.notify_one();
}

/// One release serves all that have asked before it. A failure ends the job, as every failure of the network.
void ReleaseServer::serve(const std::stop_token& stop) {
    for (;;) {
        std::unique_lock lock(mutex_);
        asked_.wait(lock, stop, [this] { return !waiters_.empty(); });
        if (stop.stop_requested()) return;
        const auto waiters = std::exchange(waiters_, {});
        lock.unlock();
        if (locks_.acquire(lock_)) static_cast<void>(locks_.release(lock_));
        for (const Waiter& waiter : waiters) locks_.has_released(waiter);
    }
}

} // namespace kumiki::dsm
