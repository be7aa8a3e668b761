#include "wait/wait.hpp"

namespace kumiki::wait::detail {

void wake(Bell& bell) {
    bell.rings.fetch_add(1, std::memory_order_release);
    platform::futex_wake_all(bell.rings);
}

} // namespace kumiki::wait::detail
