#include "linpack/shared_device.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include "accelerator/device.hpp"
#include "linpack/layout.hpp"
#include "linpack/offload.hpp"
#include "linpack/speed.hpp"

namespace kumiki::linpack {

namespace {

/// A device must make the whole so much faster, or measuring again might say that it does not.
constexpr double worth = 1.02;

/// The same number at all processes that can reach each other's sockets: of the running system, and of the network
/// namespace in it.
std::uint64_t host_identity() {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    struct stat network{};
    stat("/proc/self/ns/net", &network);
    return std::hash<std::string>{}(fmt::format("{} {}", boot, network.st_ino));
}

/// Sends products to the device until the end of its life, and tells their rate.
class DeviceSample {
public:
    DeviceSample(std::uint32_t address, std::size_t rows, std::size_t columns, std::size_t block)
        : rows_(rows),
          columns_(columns),
          depth_(block),
          client_(address, Offload::room(rows, columns, block)),
          result_(rows * columns) {
        std::fill_n(client_.left(), rows * block, 0.5);
        std::fill_n(client_.right(), columns * block, 0.5);
        // Libraries make kernels at the first product.
        send();
        take();
    }
    void start() {
        thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    }
    /// GFLOP/s since the start. Throws accelerator::DeviceError.
    double stop() {
        thread_ = {};
        if (failure_) std::rethrow_exception(failure_);
        return rate_;
    }

private:
    using Clock = std::chrono::steady_clock;

    void send() { client_.send({1, rows_, 0, 0, rows_, columns_, depth_}); }
    void take() {
        const double* const product = client_.take();
        for (std::size_t i = 0; i < result_.size(); ++i) result_[i] -= product[i];
    }
    void work(const std::stop_token& stop) {
        try {
            const auto start = Clock::now();
            double products = 0;
            while (!stop.stop_requested()) {
                while (client_.has_place()) send();
                take();
                ++products;
            }
            const std::chrono::duration<double> taken = Clock::now() - start;
            rate_ = 2e-9 * products * static_cast<double>(rows_ * columns_ * depth_) / taken.count();
            while (client_.under_way() != 0) take();
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    std::size_t rows_, columns_, depth_;
    accelerator::Client client_;
    std::vector<double> result_;
    double rate_ = 0;
    std::exception_ptr failure_;
    std::jthread thread_;
};

} // namespace

void agree(Job& job, const std::string& failure, const std::string& of_another) {
    const bool all = job.all_reduce(failure.empty() ? 1 : 0, Operation::min) == 1;
    if (!failure.empty()) throw accelerator::DeviceError(failure);
    if (!all) throw accelerator::DeviceError(of_another);
}

SharedDevice::SharedDevice(Job& job, const std::string& description) {
    const std::vector<std::uint64_t> hosts = job.all_gather(host_identity());
    const auto here = static_cast<std::size_t>(job.rank());
    const auto first = static_cast<std::size_t>(std::ranges::find(hosts, hosts[here]) - hosts.begin());
    for (int rank = 0; rank < job.size(); ++rank)
        if (hosts[static_cast<std::size_t>(rank)] == hosts[here]) ranks_.push_back(rank);
    rank_ = job.rank();
    most_ranks_ = job.all_reduce(static_cast<int>(ranks_.size()), Operation::max);
    std::string failure;
    if (first == here) try {
            server_ = std::make_unique<accelerator::ServerProcess>(description);
        } catch (const accelerator::DeviceError& error) {
            failure = error.what();
        }
    const std::vector<std::uint32_t> addresses = job.all_gather(server_ ? server_->address() : 0);
    address_ = addresses[first];
    agree(job, failure, "another rank could not start the server of its device");
}

/// The server ends with this object at the first rank, so no rank may leave before all have heard what it says.
void SharedDevice::await_opened(Job& job) const {
    std::string failure;
    try {
        const accelerator::Client asks(address_, Offload::room(1, 1, 1));
    } catch (const accelerator::DeviceError& error) {
        failure = error.what();
    }
    agree(job, failure, "another rank could not reach its device");
}

int SharedDevice::ranks_of(const Grid& grid) const {
    return static_cast<int>(std::ranges::count_if(ranks_, [&](int rank) { return grid.has(rank); }));
}

DeviceUse SharedDevice::by_processes(const Grid& grid, int count, double share) const {
    const auto behind = std::ranges::count_if(ranks_, [&](int rank) { return rank > rank_ && grid.has(rank); });
    return {address_, share, behind < count, true};
}

DeviceShare measure_device(Job& job, std::uint32_t address, const Grid& grid, std::size_t size, std::size_t block) {
    const std::size_t rows = std::clamp<std::size_t>(size / static_cast<std::size_t>(grid.rows), 1, Offload::tile_rows);
    const std::size_t columns =
        std::clamp<std::size_t>(size / static_cast<std::size_t>(grid.columns), 1, Offload::slab_columns);
    const std::size_t depth = Layout::block_within(size, block);
    const double alone_here = speed_of_rank(job, grid, rows, depth), alone = job.all_reduce(alone_here, Operation::sum);
    std::optional<DeviceSample> sample;
    if (grid.has(job.rank())) sample.emplace(address, rows, columns, depth);
    job.barrier();
    if (sample) sample->start();
    const double threads_here = speed_of_rank(job, grid, rows, depth);
    const double threads = job.all_reduce(threads_here, Operation::sum);
    const double device_here = sample ? sample->stop() : 0;
    const double devices = job.all_reduce(device_here, Operation::sum);
    const std::string measured = fmt::format(
        "threads alone {:.3g} GFLOP/s, threads {:.3g} + device {:.3g} at the same time", alone, threads, devices);
    const double together = threads + devices;
    if (together < worth * std::max(alone, threads))
        return {0,       "the device is left out: " + measured,
                alone,   together,
                devices, job.all_gather(RankSpeed{alone_here, alone_here / job.threads()})};
    const double share = devices / together;
    return {share,   fmt::format("the device gets {:.0f} % of the columns: {}", 100 * share, measured),
            alone,   together,
            devices, job.all_gather(RankSpeed{threads_here + device_here, threads_here / job.threads()})};
}

} // namespace kumiki::linpack
