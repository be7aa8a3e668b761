#pragma once

#include <functional>
#include <memory>
#include <string>

#include "accelerator/device.hpp"
#include "accelerator/sockets.hpp"

namespace kumiki::accelerator {

/// Owns a device, and computes the products that clients send. Several products of a client are under way at the same
/// time: while one is computed the operands of the next are brought in, and the result of the one before is brought
/// out.
class Server {
public:
    using Open = std::function<std::unique_ptr<Device>()>;

    /// `open` is called once, by serve(); the sentence of a DeviceError is the answer to every client.
    Server(File listening, Open open) : listening_(std::move(listening)), open_(std::move(open)) {}

    /// Serves clients until the other end of `lifeline` has been closed and all clients have left. A client that dies
    /// is forgotten with all that it has sent. Returns Device::remark().
    std::string serve(const File& lifeline);

private:
    File listening_;
    Open open_;
};

} // namespace kumiki::accelerator
