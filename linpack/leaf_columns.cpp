#include "linpack/leaf_columns.hpp"

#include <algorithm>

#include "linpack/blas.hpp"

namespace kumiki::linpack {

namespace {

/// Rows that are updated together: of a few columns they stay in the first cache.
constexpr std::size_t rows_at_once = 256;

void subtract_multiple(double* __restrict target, const double* __restrict from, double factor, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) target[i] -= factor * from[i];
}

} // namespace

void LeafColumns::load(const Panel& panel, std::size_t first_row, std::size_t panel_rows, std::size_t begin,
                       std::size_t end) {
    first_row_ = first_row;
    rows_ = panel_rows;
    begin_ = begin;
    end_ = end;
    for (std::size_t row = first_row; row < panel_rows; ++row) load_row(panel, row);
}

void LeafColumns::store(const Panel& panel, std::size_t from) const {
    for (std::size_t row = from; row < rows_; ++row) store_row(panel, row);
}

void LeafColumns::load_row(const Panel& panel, std::size_t row) {
    const double* const from = panel.rows + row * panel.lead;
    for (std::size_t column = begin_; column < end_; ++column) *element(row, column) = from[column];
}

void LeafColumns::store_row(const Panel& panel, std::size_t row) const {
    double* const to = panel.rows + row * panel.lead;
    for (std::size_t column = begin_; column < end_; ++column) to[column] = *element(row, column);
}

std::size_t LeafColumns::largest(std::size_t column, std::size_t from) const {
    return from + cblas_idamax(blas_length(rows_ - from), element(from, column), 1);
}

void LeafColumns::scale(std::size_t column, std::size_t from, double factor) {
    double* const elements = element(from, column);
    for (std::size_t i = 0; i < rows_ - from; ++i) elements[i] *= factor;
}

void LeafColumns::subtract(const Update& update, const Panel& panel) {
    for (std::size_t row = update.from; row < rows_; row += rows_at_once) {
        const std::size_t count = std::min(rows_at_once, rows_ - row);
        for (std::size_t column = update.begin; column < update.end; ++column)
            for (std::size_t k = update.done; k < update.done_end; ++k)
                subtract_multiple(element(row, column), element(row, k), panel.top[k * panel.lead + column], count);
    }
}

} // namespace kumiki::linpack
