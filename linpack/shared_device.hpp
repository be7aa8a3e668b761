#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerator/start.hpp"
#include "linpack/device_use.hpp"
#include "linpack/grid.hpp"
#include "linpack/speed.hpp"

namespace kumiki::linpack {

/// Throws accelerator::DeviceError at every rank if any of them has a failure: its own, or `of_another`. So no rank
/// goes on without the others, nor ends before all know. Collective over the job.
void agree(Job& job, const std::string& failure, const std::string& of_another);

/// The device of each host, which the ranks there share: the first of them starts its server.
class SharedDevice {
public:
    /// Collective over the job. Throws accelerator::DeviceError at each rank when a server cannot be started.
    SharedDevice(Job& job, const std::string& description);

    /// Waits until the servers have opened their devices. Collective over the job. Throws accelerator::DeviceError at
    /// each rank when one of them cannot.
    void await_opened(Job& job) const;

    /// Of the server of this host.
    std::uint32_t address() const { return address_; }
    /// Of the host that has the most, how many ranks share the device.
    int ranks_of_largest_host() const { return most_ranks_; }
    /// How many ranks of this host a grid has.
    int ranks_of(const Grid& grid) const;
    /// For products of the updates of the last `count` ranks of the grid on each host, and of no others.
    DeviceUse by_processes(const Grid& grid, int count, double share) const;

private:
    std::unique_ptr<accelerator::ServerProcess> server_; ///< at the first rank of a host
    std::uint32_t address_ = 0;
    int most_ranks_ = 0;
    std::vector<int> ranks_; ///< of this host, in ascending order
    int rank_ = 0;           ///< this one
};

/// How much of the updates devices take, and why.
struct DeviceShare {
    double share = 0; ///< of the columns, 0 .. 1
    std::string reason;
    double alone = 0;                    ///< GFLOP/s of all threads of the grid
    double together = 0;                 ///< of threads and devices at the same time
    double devices = 0;                  ///< of these, the devices'
    std::vector<RankSpeed> by_rank = {}; ///< with the device, unless it is left out
};

/// Measures products of the threads alone, and of threads and devices at the same time, at the shape of an update, at
/// the ranks of the grid, while the others wait; devices get their share of the latter, or nothing where the threads
/// are no slower without them. Collective over the job; the same at every rank.
DeviceShare measure_device(Job& job, std::uint32_t address, const Grid& grid, std::size_t size, std::size_t block);

} // namespace kumiki::linpack
