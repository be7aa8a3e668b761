#include "kernels/matmul/library.hpp"

#include <omp.h>

namespace kumiki::kernels::matmul {
namespace {

/// The whole of A, B and C in the memory of one process.
class LibraryProduct {
public:
    LibraryProduct(std::size_t size, int threads)
        : size_(size), a_(untouched(size * size)), b_(untouched(size * size)), c_(untouched(size * size)) {
        set_blas_threads(threads);
#pragma omp parallel num_threads(threads)
        {
            const Range all{0, size}, mine = share(size, static_cast<std::size_t>(omp_get_num_threads()),
                                                   static_cast<std::size_t>(omp_get_thread_num()));
            matrix_a.fill_by_columns(all, mine, a_.get() + mine.begin * size);
            matrix_b.fill_by_rows(mine, all, b_.get() + mine.begin * size);
        }
    }
    void run() { multiply(size_, size_, size_, {a_.get(), size_}, {b_.get(), size_}, c_.get(), size_, false); }
    bool right() const {
        const Check check(size_);
        std::vector<double> product(size_, 0.0);
        check.add({0, size_}, {0, size_}, c_.get(), size_, product);
        return check.passes(product);
    }

private:
    std::size_t size_;
    std::unique_ptr<double[]> a_, b_, c_;
};

measure::Row bound_row(const JobReport& report, int threads, std::span<const RunTimes> runs) {
    measure::Row row{"bound.dgemm", "bound", {}, "GFLOP/s", measure::Better::higher, {}};
    row.parameters = {
        {"threads", std::int64_t{threads}}, {"size", report.parameters.at("size")}, {"library", blas_name()}};
    row.samples = measure::figures_of(runs, [&](const RunTimes& run) { return report.work / run.total(); });
    row.note = blas_note();
    row.oversubscribed = report.oversubscribed;
    return row;
}

} // namespace

int measure_library(const Task& task) {
    const int threads = task.choice.threads_or_all_cores();
    LibraryProduct product(task.size, threads);
    SequentialCrew crew;
    const auto runs = sample_crew(crew, task.budget, [&] { return crew.run([&](const auto&) { product.run(); }); });
    const bool right = product.right();
    const JobReport report = report_of(task, {blas_name(), "library", 1, threads, exceeds_cores(threads)});
    if (task.choice.form == "library") return conclude(crew, report, runs, right);
    measure::Row row = bound_row(report, threads, runs);
    row.validated = right;
    measure::print(std::cout, row);
    return right ? measure::success : measure::validation_failed;
}

} // namespace kumiki::kernels::matmul
