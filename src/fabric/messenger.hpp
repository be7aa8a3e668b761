#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "error/result.hpp"
#include "fabric/shm/inbox.hpp"
#include "platform/held_locks.hpp"
#include "wait/wait.hpp"

namespace kumiki::fabric {

class Fabric;

/// Active messages (COMPaS paper, 3.1.1): a function of the target runs there with a copy of the payload.
///
/// A thread of the target that waits inside the library (an attendant) polls the inbox and runs the handlers. When
/// there is no attendant and the program does not poll either, the agent runs them: a thread that otherwise sleeps and
/// plays the role of the papers' network interface processor. One thread at a time runs handlers, so handlers of a rank
/// never run concurrently.
class Messenger {
public:
    using Handler = std::function<void(int source, std::span<const std::byte> payload)>;
    static constexpr int most_handlers = 256;

    explicit Messenger(Fabric& fabric) : fabric_(fabric) {}
    ~Messenger();
    Messenger(const Messenger&) = delete;
    Messenger& operator=(const Messenger&) = delete;

    /// Adds a handler; the first one starts the agent. Other ranks may send to the handler only after a barrier.
    Result<int> add(Handler handler);
    /// Takes the latest handler back, to which no rank has sent: other ranks could not add theirs.
    void take_back();
    int handlers() const { return count_.load(std::memory_order_acquire); }
    bool active() const { return handlers() > 0; }

    /// Sends at most InboxSlot::capacity bytes. The rank and the handler must exist. Waits while the inbox is full,
    /// except inside a handler, which never waits: its message is kept and sent later, in order.
    void send(int rank, int handler, std::span<const std::byte> payload);

    /// Puts a message that arrived over the network into this rank's inbox; returns false when there is no room now.
    bool accept(int source, int handler, std::span<const std::byte> payload) {
        return deliver_on_host(fabric_rank(), source, handler, payload);
    }

    /// Runs the handlers of all messages that have arrived, and stops the agent, which may be in a handler that sends.
    void stop();

    /// For a rank that is about to fail: returns once no handler is running, and no handler will ever run again.
    void silence();

    /// Runs the handlers of the messages that have arrived and returns their number. Returns 0 at once when another
    /// thread is running handlers.
    int progress() { return run_all(false); }

    /// progress() for a program that calls it in its own loop; as long as the program does so, the agent sleeps.
    int poll() {
        if (!polled_.load(std::memory_order_relaxed)) polled_.store(true, std::memory_order_relaxed);
        return progress();
    }

    /// The scope in which a thread promises to call progress() repeatedly.
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
    std::atomic<std::thread::id> running_{}; ///< the thread that runs handlers; the default id when there is none
    platform::Mutex kept_mutex_;
    std::deque<Kept> kept_; ///< messages that handlers sent to full inboxes
    std::atomic<std::size_t> kept_count_{0};
    std::atomic<bool> polled_{false}; ///< the program has polled since the agent last checked
    std::atomic<bool> stop_{false};
    std::thread agent_;
};

} // namespace kumiki::fabric
