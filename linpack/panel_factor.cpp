#include "linpack/panel_factor.hpp"

#include <algorithm>
#include <cmath>

#include "linpack/blas.hpp"

namespace kumiki::linpack {

namespace {

/// target[rows x columns] -= left[rows x depth] right[depth x columns], all `lead` from row to row.
struct Product {
    std::size_t rows, depth, columns, lead;

    /// For the few columns of a leaf, where a call of the library would cost more than the work.
    void plainly(double* target, const double* left, const double* right) const {
        for (std::size_t row = 0; row < rows; ++row, target += lead, left += lead)
            for (std::size_t k = 0; k < depth; ++k) {
                const double factor = left[k];
                const double* const from = right + k * lead;
                for (std::size_t column = 0; column < columns; ++column) target[column] -= factor * from[column];
            }
    }
    void by_library(double* target, const double* left, const double* right) const {
        if (rows == 0 || depth == 0 || columns == 0) return;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_length(rows), blas_length(columns),
                    blas_length(depth), -1.0, left, blas_length(lead), right, blas_length(lead), 1.0, target,
                    blas_length(lead));
    }
    void subtract(double* target, const double* left, const double* right, bool leaf) const {
        if (leaf) plainly(target, left, right);
        else by_library(target, left, right);
    }
};

} // namespace

bool PanelFactor::run() {
    if (shape_.width != 0) factor({0, shape_.width});
    return regular_;
}

void PanelFactor::factor(Span columns) {
    if (columns.size() == 1) return pivot(columns.begin);
    const bool leaf = columns.size() <= variant_.least;
    const Looking looking = leaf ? variant_.leaf : variant_.recursive;
    const std::size_t width = part_width(columns.size(), leaf);
    for (std::size_t begin = columns.begin; begin < columns.end; begin += width) {
        const Span done{columns.begin, begin}, part{begin, std::min(begin + width, columns.end)};
        const Span right{part.end, columns.end};
        if (looking == Looking::left) solve(done, part, leaf);
        if (looking != Looking::right) update_rows(done, part, leaf);
        factor(part);
        if (looking == Looking::crout) update_top(part, done, right, leaf);
        if (looking != Looking::left) solve(part, right, leaf);
        if (looking == Looking::right) update_rows(part, right, leaf);
    }
}

/// Parts of equal width, in whole leaves.
std::size_t PanelFactor::part_width(std::size_t columns, bool leaf) const {
    if (leaf) return 1;
    const std::size_t leaves = blocks_in(columns, variant_.least);
    return blocks_in(leaves, std::max<std::size_t>(variant_.parts, 2)) * variant_.least;
}

void PanelFactor::solve(Span done, Span columns, bool leaf) {
    if (done.size() == 0 || columns.size() == 0) return;
    if (leaf) {
        for (std::size_t at = done.begin + 1; at < done.end; ++at)
            update_top({at, at + 1}, {done.begin, at}, columns, leaf);
        return;
    }
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, blas_length(done.size()),
                blas_length(columns.size()), 1.0, top(done.begin) + done.begin, blas_length(panel_.lead),
                top(done.begin) + columns.begin, blas_length(panel_.lead));
}

void PanelFactor::update_top(Span rows, Span done, Span columns, bool leaf) {
    Product{rows.size(), done.size(), columns.size(), panel_.lead}.subtract(
        top(rows.begin) + columns.begin, top(rows.begin) + done.begin, top(done.begin) + columns.begin, leaf);
}

void PanelFactor::update_rows(Span done, Span columns, bool leaf) {
    const std::size_t first = first_row(done.end);
    Product{shape_.rows - first, done.size(), columns.size(), panel_.lead}.subtract(
        row(first) + columns.begin, row(first) + done.begin, top(done.begin) + columns.begin, leaf);
}

void PanelFactor::pivot(std::size_t column) {
    if (map_.parts() == 1) swap_here(column);
    else swap_among_ranks(column);
    const double pivot = top(column)[column];
    if (pivot == 0) {
        regular_ = false;
        return;
    }
    const double inverse = 1 / pivot;
    for (std::size_t at = first_row(column + 1); at < shape_.rows; ++at) row(at)[column] *= inverse;
}

Candidate PanelFactor::find(std::size_t column) const {
    std::size_t best = shape_.rows;
    double size = -1;
    for (std::size_t at = first_row(column); at < shape_.rows; ++at) {
        const double here = std::abs(row(at)[column]);
        if (!(here <= size)) { // so that something is chosen among numbers that are none, too
            size = here;
            best = at;
        }
    }
    if (best == shape_.rows) return {-1, map_.length(), nullptr};
    return {size, index_of(best), row(best)};
}

void PanelFactor::swap_here(std::size_t column) {
    const Candidate chosen = find(column);
    const std::size_t from = row_of(chosen.index);
    panel_.pivots[column] = static_cast<double>(chosen.index);
    std::copy_n(chosen.row, shape_.width, top(column));
    if (from != column) std::copy_n(row(column), shape_.width, row(from));
}

void PanelFactor::swap_among_ranks(std::size_t column) {
    const double* const current = shape_.owns_rows() ? row(column) : nullptr;
    const Choice choice = board_.exchange(find(column), shape_.owner_row, current, shape_.width);
    panel_.pivots[column] = static_cast<double>(choice.index);
    std::copy_n(choice.pivot, shape_.width, top(column));
    if (choice.owner == process_row_ && choice.index != shape_.first + column)
        std::copy_n(choice.current, shape_.width, row(row_of(choice.index)));
}

} // namespace kumiki::linpack
