#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "error/result.hpp"
#include "fabric/shm/inbox.hpp"
#include "wait/wait.hpp"

namespace kumiki::fabric {

class Fabric;

/// Active messages (COMPaS paper, 3.1.1): a function of the target is run there with a copy of the payload.
///
/// Who runs them: a thread of the target that waits inside the library looks at the inbox while it waits (an
/// attendant); when there is none, and the program does not poll either, the agent, a thread that sleeps otherwise and
/// plays the part of the papers' network interface processor. One thread at a time, so handlers of a rank never run at
/// once.
class Messenger {
public:
    using Handler = std::function<void(int source, std::span<const std::byte> payload)>;
    static constexpr int most_handlers = 256;

    explicit Messenger(Fabric& fabric) : fabric_(fabric) {}
    ~Messenger();
    Messenger(const Messenger&) = delete;
    Messenger& operator=(const Messenger&) = delete;

    /// Adds a handler and starts the agent with the first; the others may send to it only after a barrier.
    Result<int> add(Handler handler);
    int handlers() const { return count_.load(std::memory_order_acquire); }
    bool active() const { return handlers() > 0; }

    /// Sends to a rank that exists, to a handler that exists, at most InboxSlot::capacity bytes. Waits while the inbox
    /// is full (a handler never waits: its message is kept and sent later, in order).
    void send(int rank, int handler, std::span<const std::byte> payload);

    /// Takes a message that came over the network; false when there is no room for it now.
    bool accept(int source, int handler, std::span<const std::byte> payload) {
        return deliver_on_host(fabric_rank(), source, handler, payload);
    }

    /// Runs what has arrived and ends the agent, which may be within a handler that sends.
    void stop();

    /// For a rank that is about to fail: returns when no handler runs, and none will ever run again.
    void silence();

    /// Runs what has arrived; returns how many messages. 0 at once when another thread is at it.
    int progress() { return run_all(false); }

    /// progress() for a program that calls it in a loop of its own: as long as it does, the agent sleeps.
    int poll() {
        if (!polled_.load(std::memory_order_relaxed)) polled_.store(true, std::memory_order_relaxed);
        return progress();
    }

    /// A thread that promises to call progress() again and again, and when it stops.
    class Attendance {
    public:
        explicit Attendance(Messenger& messenger);
        ~Attendance();
        Attendance(const Attendance&) = delete;
        Attendance& operator=(const Attendance&) = delete;

    private:
        Messenger& messenger_;
    };

private:
    struct Kept {
        int rank, handler;
        std::vector<std::byte> payload;
    };

    bool deliver(int rank, int handler, std::span<const std::byte> payload);
    bool deliver_on_host(int rank, int source, int handler, std::span<const std::byte> payload);
    int fabric_rank() const;
    void keep(int rank, int handler, std::span<const std::byte> payload);
    void send_kept();
    int run_all(bool give_way_to_poller);
    int run_arrived();
    void serve();
    void leave_to_poller();
    void attend();
    void depart();
    bool in_handler() const { return running_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
    shm::Inbox& inbox() const;

    Fabric& fabric_;
    std::array<Handler, most_handlers> handler_{};
    std::atomic<int> count_{0};
    std::atomic<std::thread::id> running_{}; ///< the thread that runs handlers, none: default id
    std::mutex kept_mutex_;
    std::deque<Kept> kept_; ///< messages of handlers for which there was no place
    std::atomic<std::size_t> kept_count_{0};
    std::atomic<bool> polled_{false}; ///< the program has polled since the agent last asked
    std::atomic<bool> stop_{false};
    std::thread agent_;
};

} // namespace kumiki::fabric
