#include "linpack/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "accelerator/open.hpp"
#include "linpack/device_matrix.hpp"
#include "linpack/layout.hpp"

namespace kumiki::linpack {

namespace {

constexpr double gib = 0x1p30;

/// The largest part of the matrix that a rank has.
struct LargestPart {
    explicit LargestPart(const Parameters& parameters) {
        const Layout layout = Layout::of(parameters.size, parameters.block, parameters.grid, parameters.weights);
        rows = layout.rows.largest_local_length();
        columns = layout.columns.largest_local_length();
    }
    std::size_t rows, columns;
};

} // namespace

std::string DeviceWish::objection() const {
    if (form == Form::resident && (share || processes))
        return "--form resident has all of the matrix on the device: leave --device-share and --device-processes out, "
               "or choose --form offload";
    return {};
}

Devices::Devices(Job& job, const DeviceWish& wish) : job_(job), wish_(wish) {
    if (wish.share || wish.processes) wish_.form = Form::offload;
    if (wish_.form != Form::resident) shared_.emplace(job, wish.description);
    const bool shares = wish_.form == Form::automatic && shared_->ranks_of_largest_host() > 1;
    if (wish_.form != Form::offload && !shares) open_own(); // while the servers open theirs
    if (shared_) shared_->await_opened(job);
}

void Devices::open_own() {
    std::string failure;
    try {
        own_ = accelerator::open_device(wish_.description);
    } catch (const accelerator::DeviceError& error) {
        failure = error.what();
    }
    agree(job_, failure, "another rank could not open its device");
}

std::optional<DeviceUse> Devices::use_for(const Parameters& parameters, std::vector<std::string>& reasons) {
    if (wish_.form == Form::resident) {
        const std::string why = why_not_resident(parameters);
        agree(job_, why.empty() ? why : why + "; choose a smaller -N, or --form offload",
              "the device of another rank has too little memory");
        return resident(reasons);
    }
    if (wish_.processes) return shared_->by_processes(*wish_.processes, wish_.share.value_or(1));
    if (wish_.share) return DeviceUse{shared_->address(), *wish_.share};
    return chosen(parameters, reasons);
}

std::optional<DeviceUse> Devices::chosen(const Parameters& parameters, std::vector<std::string>& reasons) {
    const DeviceShare offload =
        measure_device(job_, shared_->address(), parameters.grid, parameters.size, parameters.block);
    const auto without_form = [&]() -> std::optional<DeviceUse> {
        reasons.push_back(offload.reason);
        if (offload.share > 0) return DeviceUse{shared_->address(), offload.share};
        return std::nullopt;
    };
    if (wish_.form == Form::offload || !own_) return without_form();
    const std::string why = why_not_resident(parameters);
    if (job_.all_reduce(why.empty() ? 1 : 0, Operation::min) == 0) {
        reasons.push_back("offload form: " + (why.empty() ? "the device of another rank has too little memory" : why));
        return without_form();
    }
    const double alone = resident_speed(parameters), best = std::max(offload.together, offload.alone);
    const bool lives_there = alone > best;
    reasons.push_back(
        fmt::format("{} form: with the matrix on the device products have {:.3g} GFLOP/s, with the matrix "
                    "on the host {:.3g}",
                    lives_there ? "resident" : "offload", alone, best));
    return lives_there ? resident(reasons) : without_form();
}

DeviceUse Devices::resident(std::vector<std::string>& reasons) const {
    std::ranges::copy(own_->absences(), std::back_inserter(reasons));
    return {.own = own_.get()};
}

std::string Devices::why_not_resident(const Parameters& parameters) const {
    const LargestPart part(parameters);
    const double needed = resident_bytes(part.rows, part.columns, parameters.block);
    const auto there = static_cast<double>(own_->properties().memory_bytes);
    if (needed <= there) return {};
    return fmt::format("a rank's part of the matrix of N = {} needs {:.3g} GiB on the device, which has {:.3g} GiB",
                       parameters.size, needed / gib, there / gib);
}

DeviceShare Devices::measured(const Parameters& parameters) {
    if (!own_ || wish_.form == Form::offload)
        return measure_device(job_, shared_->address(), parameters.grid, parameters.size, parameters.block);
    const double rate = resident_speed(parameters);
    return {1, "the matrix lives on the device", 0, rate, rate};
}

double Devices::resident_speed(const Parameters& parameters) {
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t most_columns = 2048;
    constexpr std::chrono::milliseconds enough{300};
    const LargestPart part(parameters);
    const std::size_t rows = std::max<std::size_t>(part.rows, 1), depth = parameters.block;
    const std::size_t columns = std::clamp<std::size_t>(part.columns, 1, most_columns);
    const auto a = own_->allocate(rows * depth), b = own_->allocate(depth * columns),
               c = own_->allocate(rows * columns);
    const auto stream = own_->stream();
    const std::vector<double> some(std::max(rows, columns) * depth, 0.5);
    stream->copy_in(some.data(), depth, {rows, depth}, {a.get(), 0, depth});
    stream->copy_in(some.data(), columns, {depth, columns}, {b.get(), 0, columns});
    const auto multiply = [&] {
        stream->multiply(
            {rows, columns, depth, 1, {a.get(), 0, depth}, {b.get(), 0, columns}, 0, {c.get(), 0, columns}});
    };
    // Libraries make kernels at the first product.
    multiply();
    stream->record()->wait();
    job_.barrier();
    double operations = 0;
    const auto start = Clock::now();
    do {
        for (int i = 0; i < 2; ++i) multiply();
        stream->record()->wait();
        operations += 4 * static_cast<double>(rows * columns * depth);
    } while (Clock::now() - start < enough);
    const std::chrono::duration<double> taken = Clock::now() - start;
    return job_.all_reduce(1e-9 * operations / taken.count(), Operation::sum);
}

} // namespace kumiki::linpack
