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

} // namespace kumiki::openmp
