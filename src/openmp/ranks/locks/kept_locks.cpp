#include "openmp/ranks/locks/kept_locks.hpp"

#include <algorithm>
#include <utility>

#include "platform/thread.hpp"

namespace kumiki::openmp {
namespace {

/// As long as two ranks take to hand a lock on, or a little longer.
constexpr std::chrono::microseconds turn{100};

/// Each is a message at the next barrier.
constexpr std::size_t most_kept = 64;

/// How often a thread enters locks.
class EntryRate {
public:
    static EntryRate& of_this_thread() {
        static thread_local EntryRate rate;
        return rate;
    }
    void enter() {
        if (++entered_ % many != 0) return;
        const auto now = std::chrono::steady_clock::now();
        is_high_ = now - std::exchange(last_, now) < many * turn;
    }
    bool is_high() const { return is_high_; }

private:
    static constexpr int many = 32;
    unsigned entered_ = 0;
    std::chrono::steady_clock::time_point last_{};
    bool is_high_ = false;
};

} // namespace

KeptLocks::KeptLocks(dsm::Locks& locks, Lock* here_first, std::function<void(int lock)> release)
    : locks_(locks), here_first_(here_first), release_(std::move(release)), all_(KUMIKI_SHARED_LOCKS) {}

Result<std::unique_ptr<KeptLocks>> KeptLocks::start(dsm::Locks& locks, Lock* here_first,
                                                    std::function<void(int lock)> release) {
    std::unique_ptr<KeptLocks> kept(new KeptLocks(locks, here_first, std::move(release)));
    auto started = platform::start_worker("gives locks to other ranks",
                                          [&made = *kept](const std::stop_token& stop) { made.serve(stop); });
    if (!started) return tl::unexpected(started.error());
    kept->thread_ = std::move(*started);
    locks.serve_recalls([&made = *kept](int lock) { made.recall(lock); });
    return kept;
}

// -- the threads of the program --

bool KeptLocks::take(int lock) {
    EntryRate::of_this_thread().enter();
    Kept& kept = all_[static_cast<std::size_t>(lock)];
    if (kept.is_kept.load(std::memory_order_relaxed)) {
        kept.is_kept.store(false, std::memory_order_relaxed);
        kept.is_reused = true;
        locks_.take_over(lock);
        return true;
    }
    kept.is_wanted.store(false, std::memory_order_relaxed); // what was wanted is released
    return false;
}

void KeptLocks::acquired(int lock) {
    Kept& kept = all_[static_cast<std::size_t>(lock)];
    kept.is_reused = false;
    kept.is_watched.store(false, std::memory_order_relaxed);
    kept.since.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

KeptLocks::Clock::time_point KeptLocks::end_of_turn(const Kept& kept) {
    return Clock::time_point(Clock::duration(kept.since.load(std::memory_order_relaxed))) + turn;
}

bool KeptLocks::keep(int lock) {
    if (!EntryRate::of_this_thread().is_high()) return false;
    Kept& kept = all_[static_cast<std::size_t>(lock)];
    if (kept.is_wanted.load(std::memory_order_relaxed) && Clock::now() >= end_of_turn(kept)) return false;
    if (!kept.is_listed) {
        if (is_full_.load(std::memory_order_relaxed)) return false;
        const std::lock_guard guard(mutex_);
        listed_.push_back(lock);
        kept.is_listed = true;
        is_full_.store(listed_.size() >= most_kept, std::memory_order_relaxed);
    }
    const bool is_kept = locks_.keep(lock);
    kept.is_kept.store(is_kept, std::memory_order_relaxed);
    return is_kept;
}

/// Both this thread and recall() write before they look, in one total order: either this one sees now that the lock is
/// wanted, or recall() has seen that it was kept. The same is true of give(), which finds the lock entered: either it
/// was left before, or this thread sees that its turn is over.
void KeptLocks::left(int lock) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    Kept& kept = all_[static_cast<std::size_t>(lock)];
    if (!kept.is_wanted.load(std::memory_order_relaxed)) return;
    if (Clock::now() >= end_of_turn(kept)) return give(lock);
    if (!kept.is_watched.exchange(true, std::memory_order_relaxed)) look_at(lock, end_of_turn(kept));
}

/// A thread may be in a lock even at a barrier. The one that leaves it releases it, or keeps it until the next barrier.
void KeptLocks::give_all() {
    const std::lock_guard giving(giving_);
    std::vector<int> listed;
    {
        const std::lock_guard guard(mutex_);
        listed = std::exchange(listed_, {});
        is_full_.store(false, std::memory_order_relaxed);
    }
    for (const int lock : listed) {
        if (!here_first_[lock].try_enter()) {
            const std::lock_guard guard(mutex_);
            listed_.push_back(lock);
            continue;
        }
        Kept& kept = all_[static_cast<std::size_t>(lock)];
        kept.is_listed = false;
        if (kept.is_kept.load(std::memory_order_relaxed)) give_entered(lock);
        else here_first_[lock].leave();
    }
}

void KeptLocks::give_entered(int lock) {
    all_[static_cast<std::size_t>(lock)].is_kept.store(false, std::memory_order_relaxed);
    locks_.take_over(lock);
    release_(lock);
}

// -- the thread that gives locks to other ranks --

/// By a thread that must not wait. If a thread is in the lock, it sees that when it leaves it.
void KeptLocks::recall(int lock) {
    Kept& kept = all_[static_cast<std::size_t>(lock)];
    kept.is_wanted.store(true, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (kept.is_kept.load(std::memory_order_relaxed)) look_at(lock, Clock::now());
}

void KeptLocks::look_at(int lock, Clock::time_point when) {
    {
        const std::lock_guard guard(mutex_);
        recalled_[lock] = when;
    }
    changed_.notify_one();
}

void KeptLocks::serve(const std::stop_token& stop) {
    const auto first = [this] {
        return std::ranges::min_element(recalled_, {}, [](const auto& each) { return each.second; });
    };
    std::unique_lock guard(mutex_);
    while (!stop.stop_requested()) {
        const auto next = first();
        if (next == recalled_.end()) {
            changed_.wait(guard, stop, [this] { return !recalled_.empty(); });
        } else if (const auto when = next->second; when > Clock::now()) {
            changed_.wait_until(guard, stop, when, [&] { return first()->second != when; });
        } else {
            const int lock = next->first;
            recalled_.erase(next);
            guard.unlock();
            give(lock);
            guard.lock();
        }
    }
}

/// A lock that a thread is in is looked at again at the end of its turn; later that thread itself gives it away.
void KeptLocks::give(int lock) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    Kept& kept = all_[static_cast<std::size_t>(lock)];
    if (!kept.is_wanted.load(std::memory_order_relaxed)) return;
    const auto end = end_of_turn(kept);
    const bool is_over = Clock::now() >= end;
    const std::lock_guard giving(giving_);
    if (!here_first_[lock].try_enter()) {
        if (!is_over) look_at(lock, end);
    } else if (!kept.is_kept.load(std::memory_order_relaxed)) {
        here_first_[lock].leave();
    } else if (kept.is_reused && !is_over) {
        here_first_[lock].leave();
        look_at(lock, end);
    } else {
        give_entered(lock);
    }
}

} // namespace kumiki::openmp
