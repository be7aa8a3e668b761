#include "openmp/lock.hpp"

#include "openmp/team.hpp"
#include "wait/wait.hpp"

namespace kumiki::openmp {

void Lock::wait_for(std::uint32_t turn) {
    wait::wait(process().bell_of(this), self().team.patience(),
               [&] { return served(word_.load(std::memory_order_acquire)) == turn; });
}

void Lock::wake() const {
    // `this` is only a number here: the lock may be gone.
    wait::ring(process().bell_of(this), process().patience());
}

namespace {

/// Over several ranks the lock is only a word of the program for those who guard it.
std::uint32_t& word_of(Lock& lock) {
    static_assert(sizeof(Lock) == sizeof(std::uint32_t));
    return reinterpret_cast<std::uint32_t&>(lock);
}

} // namespace

void enter_lock(Lock& lock) {
    if (OtherRanks* const others = process().others()) others->enter(word_of(lock));
    else lock.enter();
}

bool try_lock(Lock& lock) {
    OtherRanks* const others = process().others();
    return others != nullptr ? others->try_enter(word_of(lock)) : lock.try_enter();
}

void leave_lock(Lock& lock) {
    if (OtherRanks* const others = process().others()) others->leave(word_of(lock));
    else lock.leave();
}

void enter_atomic() {
    if (OtherRanks* const others = process().others()) others->enter(OtherRanks::Own::atomic);
    else process().atomic.enter();
}

void leave_atomic() {
    if (OtherRanks* const others = process().others()) others->leave(OtherRanks::Own::atomic);
    else process().atomic.leave();
}

void destroy_lock(Lock& lock) {
    if (OtherRanks* const others = process().others()) others->forget(word_of(lock));
}

} // namespace kumiki::openmp
