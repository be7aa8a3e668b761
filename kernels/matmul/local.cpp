#include "kernels/matmul/local.hpp"

#include <omp.h>

namespace kumiki::kernels::matmul {

Local::Local(std::size_t size, LocalForm form, int threads)
    : size_(size),
      form_(form),
      threads_(threads),
      tiles_(form == LocalForm::openmp ? Grid::near_square(static_cast<std::size_t>(threads)) : Grid{}),
      a_(untouched(size * size)),
      b_(untouched(size * size)),
      c_(untouched(size * size)) {
    set_blas_threads(form == LocalForm::library ? threads : 1);
#pragma omp parallel num_threads(threads_)
    {
        const auto thread = static_cast<std::size_t>(omp_get_thread_num());
        const Range mine = share(size, static_cast<std::size_t>(omp_get_num_threads()), thread), all{0, size};
        matrix_a.fill_by_columns(all, mine, a_.get() + mine.begin * size);
        matrix_b.fill_by_rows(mine, all, b_.get() + mine.begin * size);
    }
}

void Local::multiply_tile(std::size_t tile) {
    const Block block = block_at(tiles_, tile, size_, size_);
    multiply(block.rows.size(), block.columns.size(), size_, {a_.get() + block.rows.begin, size_},
             {b_.get() + block.columns.begin, size_}, c_.get() + block.rows.begin * size_ + block.columns.begin, size_,
             false);
}

RunTimes Local::run() {
    Phases phases;
    const auto start = measure::Clock::now();
    phases.enter(Phase::computation);
    if (tiles_.count() == 1) {
        multiply_tile(0);
    } else {
#pragma omp parallel num_threads(threads_)
        {
            const int thread = omp_get_thread_num();
            multiply_tile(static_cast<std::size_t>(thread));
            // The end of the parallel region is a barrier: what thread 0 waits there is synchronisation.
            if (thread == 0) phases.enter(Phase::synchronisation);
        }
    }
    phases.stop();
    return {measure::seconds_since(start), phases};
}

void Local::add_product(const Check& check, std::span<double> product) const {
    check.add({0, size_}, {0, size_}, c_.get(), size_, product);
}

Workers Local::workers() const {
    const bool oversubscribed = exceeds_cores(threads_);
    switch (form_) {
    case LocalForm::openmp: return {"openmp", "openmp", 1, threads_, oversubscribed};
    case LocalForm::library: return {blas_name(), "library", 1, threads_, oversubscribed};
    case LocalForm::sequential: break;
    }
    return {"kumiki", "sequential"};
}

} // namespace kumiki::kernels::matmul
