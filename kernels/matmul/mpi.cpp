// Matrix product with plain MPI: SUMMA, one process a processor, the panels broadcast along the rows and columns of
// processes.
#include <CLI/CLI.hpp>
#include <mpi.h>

#include <algorithm>
#include <array>

#include "kernels/common/mpi_job.hpp"
#include "kernels/matmul/blas.hpp"
#include "kernels/matmul/layout.hpp"
#include "kernels/matmul/local.hpp"
#include "kernels/matmul/measure_form.hpp"
#include "kernels/matmul/options.hpp"

namespace kumiki::kernels::matmul {

namespace {

class Mpi {
public:
    Mpi(const MpiJob& job, const Options& options)
        : job_(job),
          size_(options.size),
          grid_(Grid::near_square(static_cast<std::size_t>(job.size()))),
          row_(grid_.row_of(static_cast<std::size_t>(job.rank()))),
          column_(grid_.column_of(static_cast<std::size_t>(job.rank()))),
          mine_(block_at(grid_, static_cast<std::size_t>(job.rank()), size_, size_)),
          panels_(panels_of(size_, grid_, options.panel)),
          a_(untouched(rows() * columns())),
          b_(untouched(rows() * columns())),
          c_(untouched(rows() * columns())) {
        set_blas_threads(1);
        MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(row_), static_cast<int>(column_), &along_row_);
        MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(column_), static_cast<int>(row_), &along_column_);
        std::size_t deepest = 0;
        for (const Panel& panel : panels_) deepest = std::max(deepest, panel.depth.size());
        for (Step& step : steps_) step = {untouched(deepest * rows()), untouched(deepest * columns()), {}, {}, {}};
        matrix_a.fill_by_columns(mine_.rows, mine_.columns, a_.get());
        matrix_b.fill_by_rows(mine_.rows, mine_.columns, b_.get());
    }
    Mpi(const Mpi&) = delete;
    Mpi& operator=(const Mpi&) = delete;
    ~Mpi() {
        MPI_Comm_free(&along_row_);
        MPI_Comm_free(&along_column_);
    }

    RunTimes run() {
        job_.barrier();
        Phases phases;
        const auto start = measure::Clock::now();
        phases.enter(Phase::communication);
        start_broadcast(0);
        for (std::size_t number = 0; number < panels_.size(); ++number) {
            phases.enter(Phase::communication);
            Step& step = steps_[number % 2];
            MPI_Waitall(2, step.requests.data(), MPI_STATUSES_IGNORE);
            if (number + 1 < panels_.size()) start_broadcast(number + 1);
            phases.enter(Phase::computation);
            multiply(rows(), columns(), panels_[number].depth.size(), {step.a, rows()}, {step.b, columns()}, c_.get(),
                     columns(), number > 0);
        }
        phases.enter(Phase::synchronisation);
        job_.barrier();
        phases.stop();
        return job_.largest({measure::seconds_since(start), phases});
    }
    void add_product(const Check& check, std::span<double> product) const {
        check.add(mine_.rows, mine_.columns, c_.get(), columns(), product);
    }
    void sum_up(std::span<double> product) const {
        MPI_Allreduce(MPI_IN_PLACE, product.data(), static_cast<int>(product.size()), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
    }
    bool agree(bool mine) const { return job_.agree(mine); }
    int rank() const { return job_.rank(); }
    bool copies_panels() const { return false; } // messages always copy
    Workers workers() const { return {KUMIKI_PEER_NAME, "mpi", job_.size(), 1, exceeds_cores(job_.size())}; }

private:
    /// The panels of one step: in a buffer, or in the own block at their owner. Two of them, so that the next broadcast
    /// can be under way.
    struct Step {
        std::unique_ptr<double[]> a_buffer, b_buffer;
        double *a, *b;
        std::array<MPI_Request, 2> requests;
    };

    std::size_t rows() const { return mine_.rows.size(); }
    std::size_t columns() const { return mine_.columns.size(); }

    void start_broadcast(std::size_t number) {
        const Panel& panel = panels_[number];
        Step& step = steps_[number % 2];
        const bool own_a = panel.a_column == column_, own_b = panel.b_row == row_;
        step.a = own_a ? a_.get() + (panel.depth.begin - mine_.columns.begin) * rows() : step.a_buffer.get();
        step.b = own_b ? b_.get() + (panel.depth.begin - mine_.rows.begin) * columns() : step.b_buffer.get();
        const std::size_t depth = panel.depth.size();
        MPI_Ibcast(step.a, static_cast<int>(depth * rows()), MPI_DOUBLE, static_cast<int>(panel.a_column), along_row_,
                   &step.requests[0]);
        MPI_Ibcast(step.b, static_cast<int>(depth * columns()), MPI_DOUBLE, static_cast<int>(panel.b_row),
                   along_column_, &step.requests[1]);
    }

    const MpiJob& job_;
    std::size_t size_;
    Grid grid_;
    std::size_t row_, column_; ///< of this process in the grid
    Block mine_;
    std::vector<Panel> panels_;
    std::unique_ptr<double[]> a_, b_, c_;
    std::array<Step, 2> steps_{};
    MPI_Comm along_row_ = MPI_COMM_NULL, along_column_ = MPI_COMM_NULL;
};

} // namespace

} // namespace kumiki::kernels::matmul

int main(int argc, char** argv) {
    using namespace kumiki::kernels::matmul;
    Options options;
    CLI::App program("Matrix product C = A x B in double precision, plain MPI", "matmul-" KUMIKI_PEER_NAME);
    options.add_common(program);
    kumiki::measure::parse_or_exit(program, argc, argv);

    return kumiki::kernels::run_mpi_program("matmul-" KUMIKI_PEER_NAME, [&](const kumiki::kernels::MpiJob& job) {
        Mpi form(job, options);
        return measure_form(form, options);
    });
}
