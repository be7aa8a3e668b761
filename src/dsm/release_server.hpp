#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "dsm/locks.hpp"
#include "error/result.hpp"

namespace kumiki::dsm {

/// Releases what this rank has written when another rank asks for it (Locks::ask_to_release), while the rank's own
/// threads compute. It does so in a thread of its own, because a release waits for homes, and the thread that receives
/// must not wait.
class ReleaseServer {
public:
    /// `lock`: that under which it releases.
    static Result<std::unique_ptr<ReleaseServer>> start(Locks& locks, int lock);
    ReleaseServer(const ReleaseServer&) = delete;
    ReleaseServer& operator=(const ReleaseServer&) = delete;

private:
    ReleaseServer(Locks& locks, int lock) : locks_(locks), lock_(lock) {}
    void ask(Waiter waiter);
    void serve(const std::stop_token& stop);

    Locks& locks_;
    int lock_;
    std::mutex mutex_; ///< guards the waiters
    std::condition_variable_any asked_;
    std::vector<Waiter> waiters_;
    std::jthread thread_;
};

} // namespace kumiki::dsm
