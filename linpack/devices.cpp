#include "linpack/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>

#include "accelerator/open.hpp"
#include "linpack/device_matrix.hpp"
#include "linpack/layout.hpp"
#include "linpack/offload.hpp"
#include "linpack/sharing.hpp"

namespace kumiki::linpack {

namespace {

constexpr double gib = 0x1p30;

double total(const std::vector<RankSpeed>& speeds) {
    double sum = 0;
    for (const RankSpeed& speed : speeds) sum += speed.together;
    return sum;
}

/// What the ranks say, each sentence once, and by which rank where that is not the first one. Collective over the job.
std::vector<std::string> said_by_all(Job& job, const std::vector<std::string>& own) {
    constexpr std::size_t longest = 512;
    const auto ranks = static_cast<std::size_t>(job.size());
    std::vector<std::string> all, known;
    const int most = job.all_reduce(static_cast<int>(own.size()), Operation::max);
    for (std::size_t i = 0; i < static_cast<std::size_t>(most); ++i) {
        std::vector<char> text(longest), texts(ranks * longest);
        if (i < own.size()) std::copy_n(own[i].begin(), std::min(own[i].size(), longest - 1), text.begin());
        job.all_gather(text, texts);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const std::string sentence(&texts[rank * longest]);
            if (sentence.empty() || std::ranges::find(known, sentence) != known.end()) continue;
            known.push_back(sentence);
            all.push_back(rank == 0 ? sentence : fmt::format("rank {}: {}", rank, sentence));
        }
    }
    return all;
}

/// The largest part of the matrix that a rank has.
struct LargestPart {
    explicit LargestPart(const Parameters& parameters) {
        const Layout layout = Layout::of(parameters.size, parameters.block, parameters.grid, parameters.weights);
        rows = layout.rows.largest_local_length();
        columns = layout.columns.largest_local_length();
        block = layout.block();
    }
    std::size_t rows, columns, block;
};

/// Products on a device of its own at the shape of an update, with operands that are there. Throws
/// accelerator::DeviceError, also where the device has no room for them.
class ResidentSample {
public:
    ResidentSample(accelerator::Device& device, const LargestPart& part)
        : rows_(std::max<std::size_t>(part.rows, 1)),
          columns_(columns_of(device, part)),
          depth_(part.block),
          a_(device.allocate(rows_ * depth_)),
          b_(device.allocate(depth_ * columns_)),
          c_(device.allocate(rows_ * columns_)),
          stream_(device.stream()) {
        const std::vector<double> some(std::max(rows_, columns_) * depth_, 0.5);
        stream_->copy_in(some.data(), depth_, {rows_, depth_}, {a_.get(), 0, depth_});
        stream_->copy_in(some.data(), columns_, {depth_, columns_}, {b_.get(), 0, columns_});
        // Libraries make kernels at the first product.
        multiply();
        stream_->record()->wait();
    }

    /// GFLOP/s.
    double rate() {
        using Clock = std::chrono::steady_clock;
        constexpr std::chrono::milliseconds enough{300};
        double operations = 0;
        const auto start = Clock::now();
        do {
            for (int i = 0; i < 2; ++i) multiply();
            stream_->record()->wait();
            operations += 4 * static_cast<double>(rows_ * columns_ * depth_);
        } while (Clock::now() - start < enough);
        return 1e-9 * operations / std::chrono::duration<double>(Clock::now() - start).count();
    }

private:
    /// Of the result, which is one allocation, as a slab of the matrix is.
    std::size_t columns_of(const accelerator::Device& device, const LargestPart& part) const {
        constexpr std::size_t most_columns = 2048;
        const std::size_t at_once = device.properties().largest_bytes / sizeof(double) / rows_;
        return std::max<std::size_t>(std::min({part.columns, most_columns, at_once}), 1);
    }
    void multiply() {
        stream_->multiply(
            {rows_, columns_, depth_, 1, {a_.get(), 0, depth_}, {b_.get(), 0, columns_}, 0, {c_.get(), 0, columns_}});
    }

    std::size_t rows_, columns_, depth_;
    std::unique_ptr<accelerator::Memory> a_, b_, c_;
    std::unique_ptr<accelerator::Stream> stream_;
};

} // namespace

std::string DeviceWish::objection(int ranks) const {
    if (processes && *processes > ranks)
        return fmt::format("--device-processes {}: the job has {} rank{}", *processes, ranks, ranks == 1 ? "" : "s");
    if (form == Form::resident && (share || processes))
        return "--form resident has all of the matrix on the device: leave --device-share and --device-processes out, "
               "or choose --form offload";
    return {};
}

Devices::Devices(Job& job, const DeviceWish& wish) : job_(job), wish_(wish) {
    if (wish.share || wish.processes) wish_.form = Form::offload;
    if (wish_.form != Form::resident) shared_.emplace(job, wish.description);
    // First the servers', without which there is no run: a device may serve one process only.
    if (shared_) shared_->await_opened(job);
    if (wish_.form == Form::resident) open_own();
    if (wish_.form == Form::automatic && shared_->ranks_of_largest_host() == 1) try {
            open_own();
        } catch (const accelerator::DeviceError& error) { // at every rank
            own_.reset();
            why_not_own_ = error.what();
        }
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
    measured_.clear();
    if (wish_.form == Form::resident) {
        require_room(parameters, "; choose a smaller -N, or --form offload");
        return resident(parameters, reasons);
    }
    std::optional<DeviceUse> use;
    if (wish_.processes) use = shared_->by_processes(parameters.grid, *wish_.processes, wish_.share.value_or(1));
    else if (wish_.share) use = DeviceUse{shared_->address(), *wish_.share};
    else use = chosen(parameters, reasons);
    if (use && use->own == nullptr && Offload::slabs(use->share, LargestPart(parameters).columns) == 0)
        reasons.push_back(fmt::format("the device gets nothing: it takes slabs of {} columns, and its share is less",
                                      Offload::slab_columns));
    return use;
}

std::optional<DeviceUse> Devices::chosen(const Parameters& parameters, std::vector<std::string>& reasons) {
    if (!why_not_own_.empty()) reasons.push_back(fmt::format("offload form: {}", why_not_own_));
    const DeviceShare shared = offload(parameters);
    const auto without_form = [&]() -> std::optional<DeviceUse> {
        reasons.push_back(shared.reason);
        measured_ = shared.by_rank;
        if (shared.share > 0) return DeviceUse{shared_->address(), shared.share};
        return std::nullopt;
    };
    if (wish_.form == Form::offload || !own_) return without_form();
    try {
        require_room(parameters);
        measured_ = resident_speeds(parameters);
    } catch (const accelerator::DeviceError& error) { // at every rank
        reasons.push_back(fmt::format("offload form: {}", error.what()));
        return without_form();
    }
    const double alone = total(measured_), best = std::max(shared.together, shared.alone);
    const bool lives_there = alone > best;
    reasons.push_back(
        fmt::format("{} form: with the matrix on the device products have {:.3g} GFLOP/s, with the matrix "
                    "on the host {:.3g}",
                    lives_there ? "resident" : "offload", alone, best));
    return lives_there ? resident(parameters, reasons) : without_form();
}

std::string Devices::remark() const {
    if (!own_) return {}; // at every rank
    const std::vector<std::string> all = said_by_all(job_, {own_->remark()});
    return all.empty() ? "" : all.front();
}

DeviceUse Devices::resident(const Parameters& parameters, std::vector<std::string>& reasons) const {
    // `kumiki linpack` reads this number (tool/kumiki/linpack/model.py).
    reasons.push_back(fmt::format("the matrix lives on the device, which has room for N = {} in blocks of {}",
                                  largest_size(parameters), LargestPart(parameters).block));
    std::ranges::move(said_by_all(job_, own_->absences()), std::back_inserter(reasons));
    return {.own = own_.get()};
}

std::size_t Devices::largest_size(Parameters parameters) const {
    const double elements = static_cast<double>(own_->properties().free_bytes) / sizeof(double);
    const auto most = static_cast<std::size_t>(std::sqrt(elements * static_cast<double>(parameters.grid.size())));
    parameters.block = LargestPart(parameters).block;
    std::size_t low = 0, high = most / parameters.block;
    while (low < high) {
        const std::size_t middle = (low + high + 1) / 2;
        parameters.size = middle * parameters.block;
        if (why_no_room(parameters).empty()) low = middle;
        else high = middle - 1;
    }
    return job_.all_reduce(low * parameters.block, Operation::min);
}

std::string Devices::why_no_room(const Parameters& parameters) const {
    const LargestPart part(parameters);
    const double needed = resident_bytes(part.rows, part.columns, part.block);
    const auto free = static_cast<double>(own_->properties().free_bytes);
    if (needed <= free) return {};
    return fmt::format(
        "a rank's part of the matrix of N = {} needs {:.3g} GiB on the device, which has {:.3g} GiB free",
        parameters.size, needed / gib, free / gib);
}

void Devices::require_room(const Parameters& parameters, const std::string& advice) const {
    const std::string why = why_no_room(parameters);
    agree(job_, why.empty() ? why : why + advice, "the device of another rank has too little memory");
}

bool Devices::has_room(const Parameters& parameters) const {
    const bool lives_there = parameters.device && parameters.device->own != nullptr;
    return job_.all_reduce(!lives_there || why_no_room(parameters).empty() ? 1 : 0, Operation::min) == 1;
}

ColumnSpeeds Devices::column_speeds(const Parameters& parameters) {
    const std::optional<DeviceUse>& use = parameters.device;
    // Processes that share a device and others that do not are a mix, which balances by their numbers.
    if (measured_.empty() && (!use || use->by_process))
        return linpack::column_speeds(job_, parameters.grid, parameters.size, parameters.block);
    if (measured_.empty()) measured_ = use->own != nullptr ? resident_speeds(parameters) : offload(parameters).by_rank;
    return ColumnSpeeds::of(parameters.grid, measured_);
}

DeviceShare Devices::offload(const Parameters& parameters) {
    return measure_device(job_, shared_->address(), parameters.grid, parameters.size, parameters.block);
}

DeviceShare Devices::measured(const Parameters& parameters) {
    if (!own_ || wish_.form == Form::offload) return offload(parameters);
    const double rate = total(resident_speeds(parameters));
    return {1, "the matrix lives on the device", 0, rate, rate};
}

std::vector<RankSpeed> Devices::resident_speeds(const Parameters& parameters) {
    const LargestPart part(parameters);
    std::optional<ResidentSample> sample;
    std::string failure;
    double rate = 0;
    const auto try_to = [&](const std::function<void()>& work) {
        try {
            if (failure.empty() && parameters.grid.has(job_.rank())) work();
        } catch (const accelerator::DeviceError& error) {
            failure = error.what();
        }
    };
    try_to([&] { sample.emplace(*own_, part); });
    job_.barrier();
    try_to([&] { rate = sample->rate(); });
    agree(job_, failure, "the products of another rank's device could not be measured");
    return job_.all_gather(RankSpeed{rate, rate});
}

std::vector<double> weights_by_speed(Job& job, Devices* devices, const Parameters& parameters,
                                     std::vector<std::string>& reasons) {
    const ColumnSpeeds speeds = devices != nullptr
                                    ? devices->column_speeds(parameters)
                                    : column_speeds(job, parameters.grid, parameters.size, parameters.block);
    Sharing sharing = share_columns({parameters.size, parameters.block, parameters.grid, speeds});
    Parameters shared = parameters;
    shared.weights = sharing.weights;
    if (devices != nullptr && !devices->has_room(shared)) {
        reasons.push_back("columns are shared equally: a device has no room for its share by speed");
        return {};
    }
    std::ranges::move(sharing.reasons, std::back_inserter(reasons));
    return sharing.weights;
}

} // namespace kumiki::linpack
