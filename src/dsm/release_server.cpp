#include "dsm/release_server.hpp"

#include <utility>

#include "platform/thread.hpp"

namespace kumiki::dsm {

Result<std::unique_ptr<ReleaseServer>> ReleaseServer::start(Locks& locks, int lock) {
    std::unique_ptr<ReleaseServer> server(new ReleaseServer(locks, lock));
    auto started = platform::start_thread("releases what this rank has written", [&made = *server] { made.serve(); });
    if (!started) return tl::unexpected(started.error());
    server->thread_ = std::move(*started);
    locks.serve_releases([&made = *server](Waiter waiter) { made.ask(waiter); });
    return server;
}

ReleaseServer::~ReleaseServer() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stops_ = true;
    }
    asked_.notify_one();
    thread_.join();
}

void ReleaseServer::ask(Waiter waiter) {
    {
        const std::lock_guard lock(mutex_);
        waiters_.push_back(waiter);
    }
    asked_.notify_one();
}

/// One release serves all that have asked before it. A failure ends the job, as every failure of the network.
void ReleaseServer::serve() {
    for (;;) {
        std::unique_lock lock(mutex_);
        asked_.wait(lock, [this] { return stops_ || !waiters_.empty(); });
        if (stops_) return;
        const auto waiters = std::exchange(waiters_, {});
        lock.unlock();
        if (locks_.acquire(lock_)) static_cast<void>(locks_.release(lock_));
        for (const Waiter& waiter : waiters) locks_.has_released(waiter);
    }
}

} // namespace kumiki::dsm
