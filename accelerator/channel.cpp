#include "accelerator/channel.hpp"

#include <cerrno>
#include <ctime>

namespace kumiki::accelerator {

bool wait_for_a_while(sem_t& semaphore) {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += look_every * 1'000'000;
    if (until.tv_nsec >= 1'000'000'000) {
        until.tv_nsec -= 1'000'000'000;
        ++until.tv_sec;
    }
    while (sem_timedwait(&semaphore, &until) != 0)
        if (errno != EINTR) return false;
    return true;
}

} // namespace kumiki::accelerator
