#pragma once

#include <memory>
#include <span>

#include "kernels/matmul/blas.hpp"
#include "kernels/matmul/layout.hpp"
#include "kernels/matmul/matrix.hpp"
#include "kernels/matmul/measure_form.hpp"

namespace kumiki::kernels::matmul {

/// Memory for `count` numbers that nobody has touched yet: it comes to lie near the thread that first writes it.
inline std::unique_ptr<double[]> untouched(std::size_t count) {
    return std::make_unique_for_overwrite<double[]>(count);
}

/// The forms of one process, the whole of A, B and C in its memory.
enum class LocalForm {
    sequential, ///< one thread
    openmp,     ///< each OpenMP thread makes its tile of C by the library's product on one thread
    library,    ///< one product by the library's own threads
};

class Local {
public:
    Local(std::size_t size, LocalForm form, int threads);

    RunTimes run();
    void add_product(const Check& check, std::span<double> product) const;
    void sum_up(std::span<double>) const {}
    bool agree(bool mine) const { return mine; }
    int rank() const { return 0; }
    bool copies_panels() const { return false; }
    Workers workers() const;

private:
    void multiply_tile(std::size_t tile);

    std::size_t size_;
    LocalForm form_;
    int threads_;
    Grid tiles_;
    std::unique_ptr<double[]> a_, b_, c_;
};

} // namespace kumiki::kernels::matmul
