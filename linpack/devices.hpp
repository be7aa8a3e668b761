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
    /// Why the matrix cannot live on the devices; empty: it can.
    std::string why_not_resident(const Parameters& parameters) const;
    /// GFLOP/s of the ranks' own devices together, with operands that are there.
    double resident_speed(const Parameters& parameters);
    std::optional<DeviceUse> chosen(const Parameters& parameters, std::vector<std::string>& reasons);

    Job& job_;
    DeviceWish wish_;
    std::optional<SharedDevice> shared_;
    std::unique_ptr<accelerator::Device> own_;
};

} // namespace kumiki::linpack
