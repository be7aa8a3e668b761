#include "platform/waker.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace kumiki::platform {

Result<> Waker::open() {
    event_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event_)
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("cannot make an eventfd ({}); raise the limit of open files "
                                                          "(ulimit -n)",
                                                          std::strerror(errno)));
    return {};
}

void Waker::wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(event_.get(), &one, sizeof one); // a full counter wakes the thread, too
}

void Waker::sleep(int descriptor, std::chrono::milliseconds at_most) {
    std::array<pollfd, 2> events{{{event_.get(), POLLIN, 0}, {descriptor, POLLIN, 0}}};
    poll(events.data(), events.size(), static_cast<int>(at_most.count()));
    std::uint64_t count = 0;
    if ((events[0].revents & POLLIN) != 0) [[maybe_unused]]
        const auto emptied = read(event_.get(), &count, sizeof count);
}

} // namespace kumiki::platform
