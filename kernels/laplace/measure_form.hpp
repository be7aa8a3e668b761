#pragma once

#include <cstdint>
#include <iostream>

#include "kernels/common/hidden.hpp"
#include "kernels/common/job_report.hpp"
#include "kernels/laplace/options.hpp"
#include "kernels/laplace/reference.hpp"
#include "measure/program.hpp"

namespace kumiki::kernels::laplace {

/// What the rows have in common.
inline JobReport report_of(const Options& options, const Workers& workers, bool valid) {
    const Problem& problem = options.problem;
    JobReport report = kernels::report_of("laplace", workers);
    report.parameters["size"] = static_cast<std::int64_t>(problem.size);
    report.parameters["iterations"] = static_cast<std::int64_t>(problem.iterations);
    // What departs from the default must show, or rows of different programs would look alike.
    if (options.all_threads) report.parameters["all_threads"] = "yes";
    if (options.overlap) report.parameters["overlap"] = "yes";
    if (options.communication == Communication::edge) report.parameters["communication"] = "edge";
    report.work = problem.cells() * static_cast<double>(problem.iterations) * 1e-6;
    report.rate_unit = "Mcell/s";
    report.validated = valid;
    return report;
}

/// Samples a form, checks what it computed, and lets rank 0 print the rows; returns the exit code, the same at every
/// rank. A Form has
///   Workers workers() const
///   RunTimes run(std::size_t iterations)   one run from the initial guess; the times of the job
///   std::uint64_t checksum()               of the whole grid as the last run left it, at every rank
///   bool agree(bool)                       rank 0's argument, at every rank
///   int rank() const
/// and, where options.hidden is possible, run(iterations, Extent).
template <class Form>
int measure_form(Form& form, const Options& options) {
    const Problem& problem = options.problem;
    const auto runs = sample_runs(
        options.budget, [&] { return form.run(problem.iterations); }, [&](bool more) { return form.agree(more); });

    // Each cell of a Jacobi step depends on old values only, so every form must leave the very bits of the sequential
    // one. The grid that the last sample left is the one that is checked, unless the sequential run would take too long
    // for it.
    const std::size_t iterations = checked_iterations(problem);
    if (iterations != problem.iterations) form.run(iterations);
    const std::uint64_t checksum = form.checksum();
    bool valid = false;
    if (form.rank() == 0) {
        const Reference reference = compute_reference(problem);
        valid = reference.converges && checksum == reference.checksum;
    }
    valid = form.agree(valid);

    const JobReport report = report_of(options, form.workers(), valid);
    if (form.rank() == 0) print(std::cout, report, runs);
    if constexpr (requires { form.run(iterations, Extent::all); }) {
        if (options.hidden) {
            const auto rows = hidden_rows(
                report, options.budget, [&](Extent extent) { return form.run(problem.iterations, extent); },
                [&](bool more) { return form.agree(more); });
            if (form.rank() == 0)
                for (const measure::Row& row : rows) measure::print(std::cout, row);
        }
    }
    return valid ? measure::success : measure::validation_failed;
}

} // namespace kumiki::kernels::laplace
