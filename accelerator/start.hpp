#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "accelerator/sockets.hpp"

namespace kumiki::accelerator {

/// A server of a device, as a process of its own: the program kumiki-device, which lies beside the running program. It
/// ends when this is destroyed, or its process ends, and all clients have left.
class ServerProcess {
public:
    /// Throws DeviceError when the program cannot be started. What the device says against it, clients are told.
    explicit ServerProcess(const std::string& device);
    ServerProcess(const ServerProcess&) = delete;
    ServerProcess& operator=(const ServerProcess&) = delete;
    /// Waits for the end of the server, but not for clients that do not leave.
    ~ServerProcess();

    std::uint32_t address() const { return address_; }

private:
    std::uint32_t address_ = 0;
    File lifeline_;
    pid_t process_ = -1;
};

} // namespace kumiki::accelerator
