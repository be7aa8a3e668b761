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
    std::optional<double> share; ///< of the columns, offload; absent: measured
    /// The last so many of the grid's ranks on each host, that alone use it, offload; absent: all share it.
    std::optional<int> processes;

    /// What is wrong with it in a job of so many ranks, as a sentence; empty: nothing.
    std::string objection(int ranks) const;
};

/// The devices of a job, in the form that was asked for, or in the one that is chosen for each run. In the offload form
/// a server on each host owns the device; in the resident form each rank opens it by itself.
class Devices {
public:
    /// Collective over the job. Throws accelerator::DeviceError, as all functions do.
    Devices(Job& job, const DeviceWish& wish);

    /// The device for a run, and why; nothing where it is left out. Collective over the job.
    std::optional<DeviceUse> use_for(const Parameters& parameters, std::vector<std::string>& reasons);
    /// The speeds of the process columns for a run that uses its devices as use_for() said, which came before.
    /// Collective over the job.
    ColumnSpeeds column_speeds(const Parameters& parameters);
    /// Whether the matrix with these shares has room where it lives. Collective over the job; the same at every rank.
    bool has_room(const Parameters& parameters) const;
    /// GFLOP/s of products at the shape of an update: of threads and devices at the same time, and the devices' part of
    /// it. Where the matrix lives on them, the devices are all. Collective over the job.
    DeviceShare measured(const Parameters& parameters);
    /// How many ranks of this host the grid has, where a server on each host owns the device.
    int ranks_of_this_host(const Grid& grid) const { return shared_->ranks_of(grid); }
    /// What the reader of a result must know about the ranks' own devices: what the first rank says that says
    /// something; empty: nothing. Collective over the job.
    std::string remark() const;

private:
    void open_own();
    /// What the devices add to the threads in the offload form.
    DeviceShare offload(const Parameters& parameters);
    DeviceUse resident(const Parameters& parameters, std::vector<std::string>& reasons) const;
    /// The largest size, in whole blocks, for which every rank's own device has room. Collective over the job.
    std::size_t largest_size(Parameters parameters) const;
    /// Throws accelerator::DeviceError at every rank where the matrix has no room on one of the devices.
    void require_room(const Parameters& parameters, const std::string& advice = {}) const;
    /// What is wrong with the memory of this rank's own device for its part of the matrix; empty: nothing.
    std::string why_no_room(const Parameters& parameters) const;
    /// GFLOP/s of each rank's own device, all at the same time and with operands that are there; 0 at ranks that take
    /// no part. Throws accelerator::DeviceError at every rank where one of the devices refuses.
    std::vector<RankSpeed> resident_speeds(const Parameters& parameters);
    std::optional<DeviceUse> chosen(const Parameters& parameters, std::vector<std::string>& reasons);

    Job& job_;
    DeviceWish wish_;
    std::optional<SharedDevice> shared_;
    std::unique_ptr<accelerator::Device> own_;
    std::string why_not_own_;         ///< the device of a rank by itself could not be opened, where it need not be
    std::vector<RankSpeed> measured_; ///< by rank, for the last run, in the form that was chosen; empty: not measured
};

/// Shares of the process columns by the measured speed of what computes there, with reasons; empty: equal. `devices`
/// are null, or have said how the run uses them. Collective over the job; the same at every rank.
std::vector<double> weights_by_speed(Job& job, Devices* devices, const Parameters& parameters,
                                     std::vector<std::string>& reasons);

} // namespace kumiki::linpack
