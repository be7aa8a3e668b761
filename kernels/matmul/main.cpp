// Matrix product, the COMPaS paper's second program: sequential, threads (OpenMP's or the BLAS library's), or ranks x
// threads on Kumiki.
#include <CLI/CLI.hpp>

#include "kernels/matmul/hybrid.hpp"
#include "kernels/matmul/local.hpp"
#include "kernels/matmul/options.hpp"
#include "measure/row.hpp"

using kumiki::kernels::blas_name;
using kumiki::kernels::blas_note;
using namespace kumiki::kernels::matmul;

namespace {

/// What the BLAS library delivers by itself: the bound that the other forms are drawn against.
int measure_bound(const Options& options) {
    Local form(options.size, LocalForm::library, options.threads);
    const Measured measured = measure(form, options);
    kumiki::measure::Row row{"bound.dgemm", "bound", {}, "GFLOP/s", kumiki::measure::Better::higher, {}};
    row.parameters = {
        {"threads", options.threads}, {"size", static_cast<std::int64_t>(options.size)}, {"library", blas_name()}};
    for (const auto& run : measured.runs) row.samples.push_back(giga_operations(options) / run.total());
    row.validated = measured.valid;
    row.note = blas_note();
    row.oversubscribed = form.workers().oversubscribed;
    print(std::cout, row);
    return measured.valid ? kumiki::measure::success : kumiki::measure::validation_failed;
}

int measure_local(const Options& options, LocalForm kind, int threads) {
    Local form(options.size, kind, threads);
    return measure_form(form, options);
}

int measure_hybrid(const Options& options) {
    kumiki::Job job;
    Hybrid form(job, options);
    return measure_form(form, options);
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App program("Matrix product C = A x B in double precision", "matmul");
    options.add_common(program);
    options.add_forms(program);
    kumiki::measure::parse_or_exit(program, argc, argv);

    return kumiki::measure::guarded("matmul", [&] {
        if (options.form == "bound") return measure_bound(options);
        if (options.form == "hybrid") return measure_hybrid(options);
        if (options.form == "library") return measure_local(options, LocalForm::library, options.threads);
        if (options.form == "openmp") return measure_local(options, LocalForm::openmp, options.threads);
        return measure_local(options, LocalForm::sequential, 1);
    });
}
