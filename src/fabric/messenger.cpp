#include "fabric/messenger.hpp"

#include <chrono>
#include <fmt/format.h>
#include <thread>
#include <utility>

#include "fabric/fabric.hpp"
#include "platform/thread.hpp"
#include "wait/wait_at_most.hpp"

namespace kumiki::fabric {
namespace {

/// No bell tells this rank when another rank's inbox has room again. Looking now and then suffices on so rare a path.
constexpr std::chrono::microseconds between_looks{50};

} // namespace

shm::Inbox& Messenger::inbox() const { return fabric_.memory().own().inbox; }

Messenger::~Messenger() { stop(); }

void Messenger::stop() {
    if (!agent_.joinable()) return;
    stop_.store(true, std::memory_order_release);
    wait::ring(inbox().agent, fabric_.progress().patience());
    agent_.join();
}

Result<int> Messenger::add(Handler handler) {
    const int number = handlers();
    if (number == most_handlers)
        return fail(KUMIKI_ERROR_STATE,
                    fmt::format("a job has at most {} handlers; let one handler tell its cases apart by the payload",
                                most_handlers));
    handler_[static_cast<std::size_t>(number)] = std::move(handler);
    count_.store(number + 1, std::memory_order_release);
    if (agent_.joinable()) return number;
    auto started = platform::start_thread("serves active messages", [this] { serve(); });
    if (!started) {
        count_.store(0, std::memory_order_release);
        return tl::unexpected(started.error());
    }
    agent_ = std::move(*started);
    return number;
}

void Messenger::take_back() {
    const int number = handlers() - 1;
    count_.store(number, std::memory_order_release);
    handler_[static_cast<std::size_t>(number)] = nullptr;
}

int Messenger::fabric_rank() const { return fabric_.rank(); }

bool Messenger::deliver(int rank, int handler, std::span<const std::byte> payload) {
    if (fabric_.memory().is_remote(rank)) return fabric_.network()->active_message(rank, handler, payload);
    return deliver_on_host(rank, fabric_.rank(), handler, payload);
}

bool Messenger::deliver_on_host(int rank, int source, int handler, std::span<const std::byte> payload) {
    shm::Inbox& target = fabric_.memory().block(rank).inbox;
    if (!shm::try_send(target, source, handler, payload)) return false;
    // Either this thread sees the attendant, or the attendant that is about to stop sees the message (see ~Attendance).
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (target.attendants.load(std::memory_order_relaxed) != 0) fabric_.progress().ring(rank);
    else wait::ring(target.agent, fabric_.progress().patience());
    return true;
}

void Messenger::send(int rank, int handler, std::span<const std::byte> payload) {
    if (in_handler()) {
        // Messages of handlers keep their order: none may overtake one that had to be kept.
        if (kept_count_.load(std::memory_order_relaxed) != 0 || !deliver(rank, handler, payload))
            keep(rank, handler, payload);
        return;
    }
    // Nor may one that this thread sends after it has run handlers.
    for (; kept_count_.load(std::memory_order_relaxed) != 0; std::this_thread::sleep_for(between_looks)) progress();
    if (deliver(rank, handler, payload)) return;
    if (fabric_.memory().is_remote(rank))
        return fabric_.progress().wait([&] { return deliver(rank, handler, payload); });
    // Two ranks that fill each other's inboxes would wait for each other, so a thread that waits for a free slot
    // empties its own inbox. It does not register as an attendant: while it sleeps at the other rank's bell, the agent
    // serves this rank.
    wait::wait(fabric_.memory().block(rank).inbox.space, fabric_.progress().patience(), [&] {
        progress();
        return deliver(rank, handler, payload);
    });
}

int Messenger::run_all(bool give_way_to_poller) {
    int handled = 0;
    shm::Inbox& mine = inbox();
    while (shm::has_message(mine) || kept_count_.load(std::memory_order_relaxed) != 0) {
        if (mine.busy.exchange(1, std::memory_order_acq_rel) != 0) break;
        running_.store(std::this_thread::get_id(), std::memory_order_relaxed);
        handled += run_arrived();
        const bool all_sent = (send_kept(), kept_count_.load(std::memory_order_relaxed) == 0);
        running_.store(std::thread::id(), std::memory_order_relaxed);
        // An exchange instead of a store: if another thread came for a message that this thread had not seen yet and
        // found `busy` taken, its exchange precedes this one, so that the next check sees the message.
        mine.busy.exchange(0, std::memory_order_acq_rel);
        if (!all_sent) break; // no free slot yet; the agent tries again
        // Under a flood of messages the agent would continue forever, although the program polls again.
        if (give_way_to_poller && polled_.load(std::memory_order_relaxed)) break;
    }
    return handled;
}

int Messenger::run_arrived() {
    shm::Inbox& mine = inbox();
    shm::ActiveMessage message;
    int handled = 0;
    for (; handled < static_cast<int>(shm::Inbox::slots) && shm::has_message(mine); ++handled) {
        shm::receive(mine, message);
        wait::ring(mine.space, fabric_.progress().patience());
        handler_[static_cast<std::size_t>(message.handler)](message.source,
                                                            std::span(message.payload).first(message.bytes));
    }
    return handled;
}

void Messenger::keep(int rank, int handler, std::span<const std::byte> payload) {
    Kept kept{rank, handler, {payload.begin(), payload.end()}};
    const std::lock_guard lock(kept_mutex_);
    kept_.push_back(std::move(kept));
    kept_count_.store(kept_.size(), std::memory_order_relaxed);
    wait::ring(inbox().agent, fabric_.progress().patience());
}

void Messenger::send_kept() {
    const std::lock_guard lock(kept_mutex_);
    while (!kept_.empty() && deliver(kept_.front().rank, kept_.front().handler, kept_.front().payload))
        kept_.pop_front();
    kept_count_.store(kept_.size(), std::memory_order_relaxed);
}

void Messenger::serve() {
    const wait::Patience patience = wait::asleep(fabric_.progress().patience());
    const auto stopped = [this] { return stop_.load(std::memory_order_acquire); };
    const auto has_kept = [this] { return kept_count_.load(std::memory_order_relaxed) != 0; };
    while (!stopped()) {
        wait::wait(inbox().agent, patience, [&] { return stopped() || shm::has_message(inbox()) || has_kept(); });
        leave_to_poller();
        run_all(true);
        if (has_kept()) wait::wait_at_most(inbox().agent, between_looks, stopped);
    }
    progress(); // messages that arrived after the last check
}

// Waking the agent for every message would cost the sender a system call and the poller a core. So the agent registers
// as an attendant on behalf of the program; should the program stop polling, the agent itself looks after a
// millisecond.
void Messenger::leave_to_poller() {
    if (!polled_.load(std::memory_order_relaxed)) return;
    attend();
    const auto stopped = [this] { return stop_.load(std::memory_order_acquire); };
    while (polled_.exchange(false, std::memory_order_relaxed) &&
           !wait::wait_at_most(inbox().agent, std::chrono::milliseconds(1), stopped)) {}
    depart(); // serve() checks the inbox next
}

void Messenger::silence() {
    if (!active() || in_handler()) return;
    while (inbox().busy.exchange(1, std::memory_order_acq_rel) != 0) platform::yield(); // taken and never released
    stop_.store(true, std::memory_order_release);
    wait::ring(inbox().agent, fabric_.progress().patience());
}

void Messenger::attend() { inbox().attendants.fetch_add(1, std::memory_order_relaxed); }

/// A sender that still saw this attendant did not ring the agent's bell; the check that follows this call then sees its
/// message.
void Messenger::depart() {
    inbox().attendants.fetch_sub(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

Messenger::Attendance::Attendance(Messenger& messenger) : messenger_(messenger) { messenger_.attend(); }

Messenger::Attendance::~Attendance() {
    messenger_.depart();
    messenger_.progress();
}

} // namespace kumiki::fabric
