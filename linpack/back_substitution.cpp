#include "linpack/back_substitution.hpp"

#include <algorithm>
#include <span>

#include "linpack/blas.hpp"
#include "linpack/panel.hpp"

namespace kumiki::linpack {

namespace {

/// This rank's rows of y where it has that column, else zeros.
std::vector<double> right_side(const Place& place, const Layout& layout, const LocalMatrix& matrix) {
    std::vector<double> rest(matrix.rows(), 0);
    const std::size_t b = layout.size();
    if (layout.columns.owner_of(b) == place.column())
        for (std::size_t row = 0; row < rest.size(); ++row) rest[row] = *matrix.at(row, layout.columns.local_of(b));
    return rest;
}

} // namespace

std::vector<double> back_substitute(Place& place, const Layout& layout, const LocalMatrix& matrix) {
    // Summed over a process row: y minus what the known x contribute, each rank for its own columns.
    std::vector<double> rest = right_side(place, layout, matrix);
    std::vector<double> x(layout.size(), 0);
    for (std::size_t step = layout.steps(); step-- > 0;) {
        const StepShape shape = shape_of(step, layout.rows, layout.columns, place.row());
        const std::span<double> block(x.data() + shape.first, shape.width);
        const bool has_columns = shape.owner_column == place.column();
        const std::size_t column = layout.columns.local_begin(place.column(), step);
        if (shape.owns_rows()) {
            const std::span<double> sum(rest.data() + shape.row, shape.width);
            place.along_row().reduce(sum, Operation::sum, shape.owner_column);
            if (has_columns) {
                std::ranges::copy(sum, block.begin());
                cblas_dtrsv(CblasRowMajor, CblasUpper, CblasNoTrans, CblasNonUnit, blas_length(shape.width),
                            matrix.at(shape.row, column), blas_length(matrix.lead()), block.data(), 1);
            }
        }
        if (!has_columns) continue;
        place.along_column().broadcast(block, shape.owner_row);
        if (shape.row != 0)
            cblas_dgemv(CblasRowMajor, CblasNoTrans, blas_length(shape.row), blas_length(shape.width), -1.0,
                        matrix.at(0, column), blas_length(matrix.lead()), block.data(), 1, 1.0, rest.data(), 1);
    }
    place.along_row().all_reduce(x, Operation::sum);
    return x;
}

} // namespace kumiki::linpack
