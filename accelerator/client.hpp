#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "accelerator/channel.hpp"
#include "accelerator/sockets.hpp"

namespace kumiki::accelerator {

/// One that sends products to the server of a device, several at a time. One thread uses it. All calls throw
/// DeviceError when the device has failed or the server has ended.
class Client {
public:
    /// Waits until the server has opened the device.
    Client(std::uint32_t address, const Room& room);

    const Room& room() const { return channel().room; }
    /// Room for the left operand, which must not change while products with it are on their way.
    double* left() { return channel().left(); }
    double* right() { return channel().right(); }

    /// Whether another request may be sent now; if not, result() of the oldest one must be taken before.
    bool has_place() const { return sent_ - taken_ < Channel::slots; }
    std::size_t under_way() const { return sent_ - taken_; }
    void send(const Request& request);
    /// Waits for the result of the oldest request, which stays until the next call of send().
    const double* take();

private:
    Channel& channel() const { return *static_cast<Channel*>(memory_.data()); }

    File file_;
    Shared memory_;
    File socket_;
    std::uint64_t sent_ = 0, taken_ = 0;
};

} // namespace kumiki::accelerator
