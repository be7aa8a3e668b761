#include "linpack/panel_factor.hpp"

#include <algorithm>
#include <cmath>

#include "linpack/blas.hpp"

namespace kumiki::linpack {

namespace {

/// target[rows x columns] -= left[rows x depth] right[depth x columns], all `lead` from row to row.
struct Product {
    std::size_t rows, depth, columns, lead;

    void subtract(double* target, const double* left, const double* right) const {
        if (rows == 0 || depth == 0 || columns == 0) return;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_length(rows), blas_length(columns),
                    blas_length(depth), -1.0, left, blas_length(lead), right, blas_length(lead), 1.0, target,
                    blas_length(lead));
    }
};

} // namespace

bool PanelFactor::run() {
    if (shape_.width != 0) factor({0, shape_.width});
    return regular_;
}

void PanelFactor::factor(Span columns) {
    if (columns.size() <= variant_.least) return factor_leaf(columns);
    const Looking looking = variant_.recursive;
    const std::size_t width = part_width(columns.size());
    for (std::size_t begin = columns.begin; begin < columns.end; begin += width) {
        const Span done{columns.begin, begin}, part{begin, std::min(begin + width, columns.end)};
        const Span right{part.end, columns.end};
        if (looking == Looking::left) solve(done, part);
        if (looking != Looking::right) update_rows(done, part);
        factor(part);
        if (looking == Looking::crout) update_top(part, done, right);
        if (looking != Looking::left) solve(part, right);
        if (looking == Looking::right) update_rows(part, right);
    }
}

/// Parts of equal width, in whole leaves.
std::size_t PanelFactor::part_width(std::size_t columns) const {
    const std::size_t leaves = blocks_in(columns, variant_.least);
    return blocks_in(leaves, std::max<std::size_t>(variant_.parts, 2)) * variant_.least;
}

void PanelFactor::solve(Span done, Span columns) {
    if (done.size() == 0 || columns.size() == 0) return;
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, blas_length(done.size()),
                blas_length(columns.size()), 1.0, top(done.begin) + done.begin, blas_length(panel_.lead),
                top(done.begin) + columns.begin, blas_length(panel_.lead));
}

void PanelFactor::update_top(Span rows, Span done, Span columns) {
    Product{rows.size(), done.size(), columns.size(), panel_.lead}.subtract(
        top(rows.begin) + columns.begin, top(rows.begin) + done.begin, top(done.begin) + columns.begin);
}

void PanelFactor::update_rows(Span done, Span columns) {
    const std::size_t first = first_row(done.end);
    Product{shape_.rows - first, done.size(), columns.size(), panel_.lead}.subtract(
        row(first) + columns.begin, row(first) + done.begin, top(done.begin) + columns.begin);
}

/// As factor(), one column after another.
void PanelFactor::factor_leaf(Span columns) {
    leaf_.load(panel_, first_row(columns.begin), shape_.rows, columns.begin, columns.end);
    for (std::size_t column = columns.begin; column < columns.end; ++column) {
        const Span done{columns.begin, column}, right{column + 1, columns.end};
        if (variant_.leaf == Looking::left)
            for (std::size_t at = columns.begin + 1; at < column; ++at)
                update_top_plainly(at, {columns.begin, at}, {column, column + 1});
        if (variant_.leaf != Looking::right)
            leaf_.subtract({done.begin, done.end, column, column + 1, first_row(column)}, panel_);
        pivot(column);
        if (variant_.leaf == Looking::crout) update_top_plainly(column, done, right);
        if (variant_.leaf == Looking::right)
            leaf_.subtract({column, column + 1, right.begin, right.end, first_row(column + 1)}, panel_);
    }
    leaf_.store(panel_, first_row(columns.end));
}

/// For the few elements of a leaf, where a call of the library would cost more than the work.
void PanelFactor::update_top_plainly(std::size_t row, Span done, Span columns) {
    for (std::size_t k = done.begin; k < done.end; ++k)
        for (std::size_t column = columns.begin; column < columns.end; ++column)
            top(row)[column] -= top(row)[k] * top(k)[column];
}

void PanelFactor::pivot(std::size_t column) {
    if (map_.parts() == 1) swap_here(column);
    else swap_among_ranks(column);
    const double pivot = top(column)[column];
    if (pivot == 0) regular_ = false;
    else leaf_.scale(column, first_row(column + 1), 1 / pivot);
}

/// Rows that are exchanged are complete in the panel: what the leaf has of them is written there.
Candidate PanelFactor::find(std::size_t column) {
    const std::size_t first = first_row(column);
    if (first >= shape_.rows) return {-1, map_.length(), nullptr};
    const std::size_t best = leaf_.largest(column, first);
    leaf_.store_row(panel_, best);
    if (shape_.owns_rows()) leaf_.store_row(panel_, column);
    return {std::abs(leaf_.at(best, column)), index_of(best), row(best)};
}

void PanelFactor::put(const double* elements, std::size_t row_here) {
    std::copy_n(elements, shape_.width, row(row_here));
    leaf_.load_row(panel_, row_here);
}

void PanelFactor::swap_here(std::size_t column) {
    const Candidate chosen = find(column);
    const std::size_t from = row_of(chosen.index);
    panel_.pivots[column] = static_cast<double>(chosen.index);
    std::copy_n(chosen.row, shape_.width, top(column));
    if (from != column) put(row(column), from);
}

void PanelFactor::swap_among_ranks(std::size_t column) {
    const Candidate mine = find(column);
    const double* const current = shape_.owns_rows() ? row(column) : nullptr;
    const Choice choice = board_.exchange(mine, shape_.owner_row, current, shape_.width);
    panel_.pivots[column] = static_cast<double>(choice.index);
    std::copy_n(choice.pivot, shape_.width, top(column));
    if (choice.owner == process_row_ && choice.index != shape_.first + column)
        put(choice.current, row_of(choice.index));
}

} // namespace kumiki::linpack
