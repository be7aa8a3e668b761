#include "accelerator/client.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "accelerator/device.hpp"

namespace kumiki::accelerator {

namespace {

File new_memory(std::size_t bytes) {
    File file(memfd_create("kumiki-device", MFD_CLOEXEC));
    if (file.get() < 0 || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
        throw DeviceError(fmt::format("no shared memory of {:.3g} GiB for the server of the device: {}",
                                      static_cast<double>(bytes) / 0x1p30, std::strerror(errno)));
    return file;
}

} // namespace

Client::Client(std::uint32_t address, const Room& room)
    : file_(new_memory(Channel::bytes(room))), memory_(file_, Channel::bytes(room)), socket_(connect_to(address)) {
    auto* const fresh = new (memory_.data()) Channel{};
    fresh->room = room;
    constexpr int among_processes = 1;
    sem_init(&fresh->asked, among_processes, 0);
    for (sem_t& done : fresh->done) sem_init(&done, among_processes, 0);
    send_file(socket_, file_);
    if (const std::string failure = receive_answer(socket_); !failure.empty()) throw DeviceError(failure);
}

void Client::send(const Request& request) {
    channel().requests[sent_ % Channel::slots] = request;
    ++sent_;
    sem_post(&channel().asked);
}

const double* Client::take() {
    const std::size_t slot = taken_ % Channel::slots;
    while (!wait_for_a_while(channel().done[slot]))
        if (peer_has_left(socket_))
            throw DeviceError("the server of the device has ended before its work was done (was it killed?)");
    if (channel().failed.load(std::memory_order_acquire)) throw DeviceError(channel().failure.data());
    ++taken_;
    return channel().result(slot);
}

} // namespace kumiki::accelerator
