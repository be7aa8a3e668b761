// Linpack as a measuring program: one setting, solved again and again, and its figures as rows (docs/rows.md).
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <iostream>
#include <numeric>
#include <optional>

#include "kernels/common/blas_library.hpp"
#include "linpack/blas_check.hpp"
#include "linpack/burden.hpp"
#include "linpack/devices.hpp"
#include "linpack/options.hpp"
#include "linpack/pieces.hpp"
#include "linpack/run.hpp"
#include "linpack/speed.hpp"
#include "measure/program.hpp"
#include "measure/row.hpp"
#include "measure/sampling.hpp"

using namespace kumiki::linpack;

namespace {

namespace measure = kumiki::measure;

constexpr const char* name = "linpack";

struct Request {
    Options options;
    measure::Budget budget;
    bool product = false; ///< measure the product that an update computes instead, which is the bound
    bool burden = false;  ///< a slow core
    bool pieces = false;  ///< measure the parts of a step and the solution instead, each by itself
};

struct Sample {
    double rate = 0, residual = 0; ///< GFLOP/s; scaled
};

/// Measures one setting; only rank 0 prints rows.
class Measurement {
public:
    Measurement(kumiki::Job& job, const Request& request, const Parameters& parameters)
        : job_(job), request_(request), parameters_(parameters) {
        if (request.burden) burden_.emplace(job);
        if (!request.options.device.description.empty()) devices_.emplace(job, request.options.device);
    }

    int run() {
        if (request_.product) return product();
        if (request_.pieces) return pieces();
        std::vector<std::string> reasons;
        if (devices_) parameters_.device = devices_->use_for(parameters_, reasons);
        if (request_.options.measured_weights)
            parameters_.weights = weights_by_speed(job_, devices_ ? &*devices_ : nullptr, parameters_, reasons);
        const auto samples = sampled([&] {
            const Outcome outcome = kumiki::linpack::run(job_, parameters_);
            return Sample{gigaflops(parameters_.size, outcome.seconds),
                          outcome.residual ? outcome.residual->scaled : 0};
        });
        const auto residuals = measure::figures_of(std::span(samples), [](const Sample& it) { return it.residual; });
        const bool right =
            std::ranges::all_of(residuals, [&](double residual) { return residual < parameters_.threshold; });
        print("linpack.rate", "kumiki", samples, right);
        measure::Row row = row_of("linpack.residual", "kumiki", residuals, right);
        row.unit = "1";
        row.better = measure::Better::lower;
        row.resolution = parameters_.threshold;
        if (job_.rank() == 0) measure::print(std::cout, row);
        return job_.all_reduce(right ? 0 : 1, kumiki::Operation::max) == 0 ? measure::success
                                                                           : measure::validation_failed;
    }

private:
    ColumnSpeeds speeds() { return column_speeds(job_, parameters_.grid, parameters_.size, parameters_.block); }

    /// The rate of all ranks together, each process column as fast as its slowest rank allows; or that of all threads
    /// and devices at the same time, and what of it the devices have.
    int product() {
        std::vector<Sample> devices;
        const auto samples = sampled([&] {
            if (devices_) {
                const DeviceShare measured = devices_->measured(parameters_);
                devices.push_back({measured.devices, 0});
                return Sample{measured.together, 0};
            }
            const std::vector<double> by_column = speeds().together;
            return Sample{parameters_.grid.rows * std::reduce(by_column.begin(), by_column.end()), 0};
        });
        print("dgemm.rate", "bound", samples, true);
        if (devices_) print("dgemm.rate", "device", {devices.end() - std::ssize(samples), devices.end()}, true);
        return measure::success;
    }

    int pieces() {
        Pieces pieces(job_, parameters_);
        const auto measured = [&](const char* metric, double (Pieces::*piece)()) {
            print(metric, "kumiki", sampled([&] { return Sample{(pieces.*piece)(), 0}; }), true);
        };
        measured("linpack.product", &Pieces::product);
        measured("linpack.narrow", &Pieces::narrow);
        measured("linpack.panel", &Pieces::panel);
        measured("linpack.exchange", &Pieces::exchange);
        measured("linpack.solution", &Pieces::solution);
        return measure::success;
    }

    template <class Take>
    std::vector<Sample> sampled(Take take) {
        const auto settled = [](std::span<const Sample> samples) {
            return measure::settled(measure::figures_of(samples, [](const Sample& it) { return it.rate; }), 0);
        };
        return measure::sample_until(request_.budget, take, settled, [this](bool more) {
            int decision = more ? 1 : 0;
            job_.broadcast(std::span(&decision, 1), 0);
            return decision != 0;
        });
    }

    std::string weights() const {
        if (request_.options.measured_weights) return "measured";
        return parameters_.weights.empty() ? "equal" : fmt::format("{}", fmt::join(parameters_.weights, ","));
    }

    bool with_device() const { return !request_.options.device.description.empty(); }

    /// Host processes x threads + accelerator processes of each host, where they differ.
    std::string mix() const {
        const std::optional<int>& accelerated = request_.options.device.processes;
        if (!accelerated) return "none";
        const int ranks = devices_->ranks_of_this_host(parameters_.grid), on_device = std::min(*accelerated, ranks);
        return fmt::format("{}x{}+{}", ranks - on_device, job_.threads(), on_device);
    }

    /// How threads wait, which kumiki-run --wait says.
    static const char* wait() {
        const char* const policy = std::getenv("KUMIKI_WAIT");
        return policy == nullptr ? "adaptive" : policy;
    }

    measure::Row row_of(const char* metric, const char* implementation, std::vector<double> samples, bool right) const {
        measure::Row row;
        row.metric = metric;
        row.implementation = implementation;
        row.parameters = {{"ranks", job_.size()},
                          {"threads", job_.threads()},
                          {"n", static_cast<std::int64_t>(parameters_.size)},
                          {"block", static_cast<std::int64_t>(parameters_.block)},
                          {"grid", fmt::format("{}x{}", parameters_.grid.rows, parameters_.grid.columns)},
                          {"weights", weights()},
                          {"device", with_device() ? request_.options.device.description : "none"},
                          {"form", with_device() ? word_for(request_.options.device.form) : "none"},
                          {"mix", mix()},
                          {"look_ahead", word_for(parameters_.look_ahead)},
                          {"wait", wait()},
                          {"cores", request_.burden ? "one slow" : "alike"}};
        row.unit = "GFLOP/s";
        row.better = measure::Better::higher;
        row.samples = std::move(samples);
        row.validated = right;
        row.oversubscribed = job_.oversubscribed();
        return row;
    }

    void print(const char* metric, const char* implementation, const std::vector<Sample>& samples, bool right) const {
        if (job_.rank() != 0) return;
        const auto rates = measure::figures_of(std::span(samples), [](const Sample& it) { return it.rate; });
        measure::print(std::cout, row_of(metric, implementation, rates, right));
    }

    kumiki::Job& job_;
    const Request& request_;
    Parameters parameters_;
    std::optional<Burden> burden_;
    std::optional<Devices> devices_;
};

int measured(const Request& request) {
    kumiki::Job job;
    const std::vector<Parameters> runs = request.options.runs(job.size());
    std::string why = runs.size() == 1 ? objection(runs.front(), job.size())
                                       : "several settings were given; rows are those of one: give one value to each "
                                         "option, or use kumiki-linpack";
    if (why.empty() && request.pieces && runs.front().grid.size() != job.size())
        why = "--pieces: all ranks take part; choose a grid of as many as the job has";
    if (why.empty() && request.pieces && runs.front().size == 0)
        why = "--pieces: a matrix without rows has no steps; give -N 1 or more";
    if (why.empty()) why = request.options.device.objection(job.size());
    if (!why.empty()) {
        if (job.rank() == 0) std::cerr << name << ": " << why << '\n';
        return measure::usage;
    }
    kumiki::kernels::set_blas_threads(1);
    check_blas(job);
    return Measurement(job, request, runs.front()).run();
}

} // namespace

int main(int argc, char** argv) {
    Request request;
    CLI::App program("Measures Linpack: solves a dense system of equations again and again", name);
    request.options.add_to(program);
    request.options.add_device_to(program);
    request.budget.add_to(program);
    program.add_flag("--burden", request.burden,
                     "a slow core: a thread computes beside the last thread of the last rank, on its processor");
    program.add_flag("--product", request.product, "measure DGEMM at the shape of the update instead: the bound");
    program
        .add_flag("--pieces", request.pieces,
                  "measure the parts of the first step instead, and the solution, each by itself: for a model of runs")
        ->excludes("--product");
    measure::parse_or_exit(program, argc, argv);
    return measure::guarded(name, [&] { return measured(request); });
}
