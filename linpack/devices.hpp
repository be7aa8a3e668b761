#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerator/device.hpp"
#include "linpack/parameters.hpp"
#include "linpack/shared_device.hpp"

namespace kumiki::linpack {

/// How a device takes part: it gets products of updates while the matrix is on the host (offload), or the matrix lives
/// on it (resident).
enum class Form { automatic, offload, resident };

/// What the command line says about the device of each host.
struct DeviceWish {
    std::string description; ///< empty: none
    Form form = Form::automatic;
    std::optional<double> share;  ///< of the columns, offload; absent: measured
    std::optional<int> processes; ///< the last of each host, that alone use it, offload; absent: all ranks share it

    /// What is wrong with it, as a sentence; empty: nothing.
    std::string objection() const;
};

/// The devices of a job, in the form that was asked for, or in the one that is chosen for each run. In the offload form
/// a server on each host owns the device; in the resident form each rank opens it by itself.
class Devices {
public:
    /// Collective over the job. Throws accelerator::DeviceError, as all functions do.
    Devices(Job& job, const DeviceWish& wish);

    /// The device for a run, and why; nothing where it is left out. Collective over the job.
    std::optional<DeviceUse> use_for(const Parameters& parameters, std::vector<std::string>& reasons);
    /// GFLOP/s of products at the shape of an update: of threads and devices at the same time, and the devices' part of
    /// it. Where the matrix lives on them, the devices are all. Collective over the job.
    DeviceShare measured(const Parameters& parameters);
    /// What the reader of a result must know about this rank's own device; empty: nothing.
    std::string remark() const { return own_ ? own_->remark() : ""; }

private:
    void open_own();
    DeviceUse resident(std::vector<std::string>& reasons) const;
    /// Throws accelerator::DeviceError at every rank where the matrix has no room on one of the devices.
    void require_room(const Parameters& parameters, const std::string& advice = {}) const;
    /// GFLOP/s of each rank's own device, all at the same time and with operands that are there; 0 at ranks that take
    /// no part. Throws accelerator::DeviceError at every rank where one of the devices refuses.
    std::vector<double> resident_speeds(const Parameters& parameters);
    std::optional<DeviceUse> chosen(const Parameters& parameters, std::vector<std::string>& reasons);

    Job& job_;
    DeviceWish wish_;
    std::optional<SharedDevice> shared_;
    std::unique_ptr<accelerator::Device> own_;
};

} // namespace kumiki::linpack
