#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerator/start.hpp"
#include "linpack/grid.hpp"

namespace kumiki::linpack {

/// The device of each host, which the ranks there share: the first of them starts its server.
class SharedDevice {
public:
    /// Collective over the job. Throws accelerator::DeviceError at each rank when a server cannot be started.
    SharedDevice(Job& job, const std::string& description);

    /// Of the server of this host.
    std::uint32_t address() const { return address_; }

private:
    std::unique_ptr<accelerator::ServerProcess> server_; ///< at the first rank of a host
    std::uint32_t address_ = 0;
};

/// How much of the updates devices take, and why.
struct DeviceShare {
    double share = 0; ///< of the columns, 0 .. 1
    std::string reason;
    double alone = 0, together = 0; ///< GFLOP/s of all threads, and of threads and devices at the same time
};

/// Measures products of the threads alone, and of threads and devices at the same time, at the shape of an update;
/// devices get their share of the latter, or nothing where the threads are no slower without them. Collective over the
/// job; the same at every rank.
DeviceShare measure_device(Job& job, std::uint32_t address, const Grid& grid, std::size_t size, std::size_t block);

} // namespace kumiki::linpack
