#include "openmp/ranks/ranks.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "openmp/ranks/process/signals.hpp"
#include "wait/wait_at_most.hpp"

/// Locks of the program (critical constructs and omp_lock_t), which are words of its memory, over all ranks. The first
/// thread that enters one gives it a lock of the shared memory of its own and writes the number into the word, where it
/// stays. When no numbers are left, a word tells whether the lock is held, and is itself guarded, for moments, by a
/// lock that it shares with other words.
namespace kumiki::openmp {
namespace {

// The value of a word; all others are numbers.
constexpr std::uint32_t open = 0, held = 1;

constexpr int first_guard = 16, guards = 1008, behind_guards = first_guard + guards;

/// A thread that tries again and again to enter the same lock waits between its attempts, longer and longer: else it
/// would keep processors, and the lock's manager, from the thread that is to leave the lock.
void back_off(const void* lock, bool entered) {
    using std::chrono::microseconds;
    constexpr microseconds shortest{10}, longest{320};
    static thread_local struct {
        const void* lock;
        microseconds wait;
    } last{};
    if (entered || std::exchange(last.lock, lock) != lock) {
        last.wait = microseconds::zero();
        return;
    }
    last.wait = std::clamp(2 * last.wait, shortest, longest);
    std::this_thread::sleep_for(last.wait);
}

} // namespace

/// A rank's numbers belong to the locks that it manages itself, so that a lock which it alone uses needs no message.
/// They begin behind those of change_locks().
LockNumbers::LockNumbers(int rank, int ranks) : next_(behind_guards + 2 * ranks), step_(ranks) {
    next_ += (rank - next_ % ranks + ranks) % ranks;
}

std::uint32_t LockNumbers::take() {
    const std::lock_guard lock(mutex_);
    if (!returned_.empty()) {
        const std::uint32_t number = returned_.back();
        returned_.pop_back();
        return number;
    }
    if (next_ >= KUMIKI_SHARED_LOCKS) return open;
    return static_cast<std::uint32_t>(std::exchange(next_, next_ + step_));
}

void LockNumbers::give(std::uint32_t number) {
    const std::lock_guard lock(mutex_);
    returned_.push_back(number);
}

bool Ranks::may_keep(int lock) const {
    return kept_locks_ != nullptr && (lock >= behind_guards + 2 * fabric_->size() ||
                                      lock == static_cast<int>(Own::critical) || lock == static_cast<int>(Own::atomic));
}

Result<> Ranks::keep_locks() {
    if (waits_ || !has_own_host_ || fabric_->size() == 1 || shared_.races() != nullptr) return {};
    auto started = KeptLocks::start(*locks_, here_first_.get(), [this](int lock) {
        const SignalsLater later;
        give_to_others(lock);
    });
    if (!started) return tl::unexpected(started.error());
    kept_locks_ = std::move(*started);
    return {};
}

int Ranks::change_locks() const {
    const int ranks = fabric_->size();
    return (behind_guards + ranks - 1) / ranks * ranks;
}

int Ranks::guard_of(const void* word) {
    const auto address = reinterpret_cast<std::uintptr_t>(word);
    return first_guard + static_cast<int>((address >> 2) * 0x9E3779B97F4A7C15 >> 40) % guards;
}

/// The number of a lock, which may get one now; or it has none, and `open`: the caller has entered it, `held`: another
/// thread has. What a thread sees without the guard may be old, but only if it is no number.
std::uint32_t Ranks::enter_without_number(std::uint32_t& word) {
    const auto seen = std::atomic_ref(word).load(std::memory_order_relaxed);
    if (seen > held) return seen;
    const int guard = guard_of(&word);
    acquire(guard);
    std::uint32_t found = word;
    if (found == open) {
        found = lock_numbers_.take();
        word = found == open ? held : found;
    }
    release(guard);
    return found;
}

void Ranks::enter(std::uint32_t& word) {
    const explain::Timed timed(record_.get(), explain::Tallied::lock, reinterpret_cast<std::uintptr_t>(&word));
    std::uint32_t found = held;
    await_change([&] { return (found = enter_without_number(word)) != held; });
    if (found != open) acquire(static_cast<int>(found));
}

bool Ranks::try_enter(std::uint32_t& word) {
    const std::uint32_t found = enter_without_number(word);
    const bool entered = found > held ? try_acquire(static_cast<int>(found)) : found == open;
    back_off(&word, entered);
    return entered;
}

/// A program may leave a lock that nobody has entered, which does nothing with the C library's mutexes.
void Ranks::leave(std::uint32_t& word) {
    if (const auto number = std::atomic_ref(word).load(std::memory_order_relaxed); number > held) {
        const auto lock = static_cast<int>(number);
        if (InJob(*this) && !locks_->is_held_here(lock)) static_cast<void>(try_acquire(lock)); // if it is free
        return release(lock);
    }
    const int guard = guard_of(&word);
    acquire(guard);
    word = open;
    release(guard);
    announce();
}

void Ranks::forget(std::uint32_t& word) {
    if (word > held) lock_numbers_.give(word);
    word = open;
}

// -- words for whose change threads wait --

std::uint32_t Ranks::look(std::uint32_t& word) {
    const int guard = guard_of(&word);
    acquire(guard);
    const std::uint32_t found = word;
    release(guard);
    return found;
}

void Ranks::change(std::uint32_t& word, const std::function<void(std::uint32_t&)>& change) {
    const int guard = guard_of(&word);
    acquire(guard);
    change(word);
    release(guard);
    announce();
}

void Ranks::announce() {
    if (const InJob in_job(*this); in_job && !others_rest()) words_->announce(0, fabric_->size());
    else words_->announce(rank(), rank() + 1);
}

bool Ranks::await_announcement(std::uint64_t seen, std::optional<std::chrono::nanoseconds> most) {
    const SignalsLater later;
    const WaitTimes::Scope waiting(wait_times_, WaitTimes::threads);
    const auto announced = [&] { return words_->announced() != seen; };
    if (most) return wait::wait_at_most(fabric_->memory().own().bell, *most, announced);
    while (has_left()) // the network must not be looked at any more
        if (wait::wait_at_most(fabric_->memory().own().bell, std::chrono::seconds(1), announced)) return true;
    fabric_->progress().wait(announced);
    return true;
}

bool Ranks::await(std::uint32_t& word, std::optional<std::chrono::nanoseconds> most,
                  const std::function<bool(std::uint32_t&)>& attempt) {
    const auto begin = std::chrono::steady_clock::now();
    const int guard = guard_of(&word);
    for (;;) {
        const std::uint64_t seen = words_->announced();
        acquire(guard);
        const bool done = attempt(word);
        release(guard);
        if (done) return true;
        const auto left = most ? *most - (std::chrono::steady_clock::now() - begin) : most;
        if (left && *left <= left->zero()) return false;
        await_announcement(seen, left);
    }
}

/// A thread wakes others only if it sees that any wait, and it may look at an older number of them: so the thread that
/// waits looks again now and then.
int Ranks::await_wake(const std::uint32_t& word, std::uint32_t value, std::optional<std::chrono::nanoseconds> most) {
    constexpr std::chrono::nanoseconds longest = std::chrono::microseconds(200);
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t seen =
        words_->announced(); // before the look: a thread that wakes others after it ends the wait
    for (;;) {
        const auto found = std::atomic_ref(const_cast<std::uint32_t&>(word)).load(std::memory_order_acquire); // NOLINT
        look_again(nullptr, &word);
        if (found != value) return EAGAIN;
        const auto left = most ? *most - (std::chrono::steady_clock::now() - begin) : longest;
        if (left <= left.zero()) return ETIMEDOUT;
        if (await_announcement(seen, std::min(left, longest))) return flush(), 0;
    }
}

void Ranks::wake() {
    flush();
    announce();
}

} // namespace kumiki::openmp
