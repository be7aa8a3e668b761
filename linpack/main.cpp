// Linpack over unequal processors: LU with partial pivoting on a grid of Kumiki's ranks, reported as HPL does.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <functional>
#include <iostream>
#include <optional>

#include "kernels/common/blas_library.hpp"
#include "linpack/blas_check.hpp"
#include "linpack/devices.hpp"
#include "linpack/options.hpp"
#include "linpack/output.hpp"
#include "linpack/progress.hpp"
#include "measure/program.hpp"

using namespace kumiki::linpack;

namespace {

constexpr const char* name = "kumiki-linpack";

std::string counted(int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

std::string describe(kumiki::Job& job) {
    return fmt::format("kumiki-linpack: {} x {}{}, {} called with one thread each", counted(job.size(), "rank"),
                       counted(job.threads(), "thread"), job.oversubscribed() ? " (more than there are cores)" : "",
                       kumiki::kernels::blas_name());
}

/// Output is rank 0's; the others compute the same without a word.
class Session {
public:
    Session(kumiki::Job& job, const Options& options) : job_(job), options_(options) {
        if (!options.device.description.empty()) devices_.emplace(job, options.device);
    }

    int run() {
        if (speaks()) output_.remark(describe(job_));
        if (speaks() && kumiki::kernels::blas_note()[0] != '\0') output_.remark(kumiki::kernels::blas_note());
        for (const Parameters& parameters : options_.runs(job_.size())) run_one(parameters);
        if (const std::string remark = devices_ ? devices_->remark() : ""; speaks() && !remark.empty())
            output_.remark(remark);
        if (speaks()) output_.finish();
        const int failed = job_.all_reduce(output_.failed(), kumiki::Operation::max);
        return failed == 0 ? kumiki::measure::success : kumiki::measure::validation_failed;
    }

private:
    bool speaks() const { return job_.rank() == 0; }

    void run_one(Parameters parameters) {
        prepare(parameters);
        Progress progress(std::cerr);
        const Outcome outcome = speaks() && options_.progress
                                    ? kumiki::linpack::run(job_, parameters, std::ref(progress))
                                    : kumiki::linpack::run(job_, parameters);
        if (speaks()) output_.print(parameters, outcome);
    }

    /// Every rank chooses the same, for all know all speeds. The device comes first: where the matrix lives on it, and
    /// where it shares the updates, a process column is not as fast as its threads.
    void prepare(Parameters& parameters) {
        std::vector<std::string> reasons;
        if (devices_) parameters.device = devices_->use_for(parameters, reasons);
        if (options_.measured_weights)
            parameters.weights = weights_by_speed(job_, devices_ ? &*devices_ : nullptr, parameters, reasons);
        for (const std::string& reason : reasons)
            if (speaks()) output_.remark(reason);
    }

    kumiki::Job& job_;
    const Options& options_;
    std::optional<Devices> devices_;
    Output output_{std::cout};
};

int solve(const Options& options) {
    kumiki::Job job;
    for (const Parameters& parameters : options.runs(job.size()))
        if (const std::string why = objection(parameters, job.size()); !why.empty()) {
            if (job.rank() == 0) std::cerr << name << ": " << why << '\n';
            return kumiki::measure::usage;
        }
    if (const std::string why = options.device.objection(job.size()); !why.empty()) {
        if (job.rank() == 0) std::cerr << name << ": " << why << '\n';
        return kumiki::measure::usage;
    }
    kumiki::kernels::set_blas_threads(1);
    check_blas(job);
    return Session(job, options).run();
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App program("Solves a dense system of linear equations over ranks and threads, as HPL does", name);
    options.add_to(program);
    options.add_device_to(program);
    kumiki::measure::parse_or_exit(program, argc, argv);
    return kumiki::measure::guarded(name, [&] { return solve(options); });
}
