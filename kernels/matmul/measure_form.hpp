#pragma once

#include <cstdint>
#include <iostream>
#include <vector>

#include "kernels/common/job_report.hpp"
#include "kernels/matmul/blas.hpp"
#include "kernels/matmul/check.hpp"
#include "kernels/matmul/options.hpp"
#include "measure/program.hpp"

namespace kumiki::kernels::matmul {

/// What measuring a form leaves at rank 0.
struct Measured {
    std::vector<RunTimes> runs;
    bool valid = false; ///< the same at every rank
};

/// Samples a form and checks the product that the last sample left. A Form has
///   Workers workers() const
///   RunTimes run()                                               one product; the times of the job
///   void add_product(const Check&, std::span<double>) const      this rank's part of C x
///   void sum_up(std::span<double>)                               adds the ranks' parts, at rank 0
///   bool agree(bool)                                             rank 0's argument, at every rank
///   int rank() const
///   bool copies_panels() const                                   although it could be spared that (see Fetch)
template <class Form>
Measured measure(Form& form, const Options& options) {
    Measured measured;
    measured.runs =
        sample_runs(options.budget, [&] { return form.run(); }, [&](bool more) { return form.agree(more); });
    const Check check(options.size);
    std::vector<double> product(options.size, 0.0);
    form.add_product(check, product);
    form.sum_up(product);
    measured.valid = form.agree(form.rank() == 0 && check.passes(product));
    return measured;
}

inline double giga_operations(const Options& options) {
    const auto size = static_cast<double>(options.size);
    return 2e-9 * size * size * size;
}

/// Measures a form and lets rank 0 print the rows; returns the exit code, the same at every rank.
template <class Form>
int measure_form(Form& form, const Options& options) {
    const Measured measured = measure(form, options);
    if (form.rank() == 0) {
        JobReport report = report_of("matmul", form.workers());
        report.parameters["size"] = static_cast<std::int64_t>(options.size);
        // What departs from the default must show, or rows of different programs would look alike.
        if (options.all_threads) report.parameters["all_threads"] = "yes";
        if (form.copies_panels()) report.parameters["fetch"] = "get";
        if (options.panel != 0) report.parameters["panel"] = static_cast<std::int64_t>(options.panel);
        if (report.note.empty()) report.note = blas_note();
        report.work = giga_operations(options);
        report.rate_unit = "GFLOP/s";
        report.validated = measured.valid;
        print(std::cout, report, measured.runs);
    }
    return measured.valid ? measure::success : measure::validation_failed;
}

} // namespace kumiki::kernels::matmul
