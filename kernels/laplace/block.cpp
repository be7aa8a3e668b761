#include "kernels/laplace/block.hpp"

#include <algorithm>
#include <bit>

#include "kernels/common/mixed.hpp"
#include "kernels/laplace/stencil.hpp"

namespace kumiki::kernels::laplace {

namespace {

constexpr std::size_t page_doubles = 4096 / sizeof(double);

} // namespace

std::size_t Block::stride_of(const Problem& problem) {
    const std::size_t whole_lines = (lead + problem.size + lead) / lead * lead; // with the east boundary
    // If rows are a multiple of a page apart, the processor suspects that a store may alias the loads beside it.
    return whole_lines % page_doubles == 0 ? whole_lines + lead : whole_lines;
}

Block::Block(const Problem& problem, Range rows, std::span<double> memory)
    : problem_(problem), rows_(rows), stride_(stride_of(problem)), storage_(storage_length(problem, rows), memory) {
    for (const Side side : {Side::north, Side::south}) {
        early_edges_[index(side)].resize(columns());
        auto& halo = first_halos_[index(side)];
        halo.resize(columns(), 0.0);
        if (!at_boundary(side)) continue;
        const std::size_t boundary_row = side == Side::north ? 0 : problem.size + 1;
        for (std::size_t column = 0; column < columns(); ++column)
            halo[column] = problem.solution(boundary_row, column + 1);
    }
    reset();
}

void Block::reset() {
    step_ = 0;
    std::fill(storage_.begin(), storage_.end(), 0.0);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        double* const start = slot(i + 1);
        *(start - 1) = problem_.solution(rows_.begin + i + 1, 0);
        start[columns()] = problem_.solution(rows_.begin + i + 1, columns() + 1);
    }
    for (const Side side : {Side::north, Side::south}) accept(side, first_halos_[index(side)].data());
}

const double* Block::old_row(std::ptrdiff_t i) const {
    if (i < 0) return halos_[index(Side::north)];
    if (static_cast<std::size_t>(i) == rows_.size()) return halos_[index(Side::south)];
    return row(static_cast<std::size_t>(i));
}

void Block::relax_row_at(std::size_t i, double* next) const {
    const auto at = static_cast<std::ptrdiff_t>(i);
    relax_row(next, old_row(at - 1), old_row(at), old_row(at + 1), columns());
}

void Block::set_boundary_columns(std::size_t i, double* next) const {
    const double* const here = row(i);
    *(next - 1) = *(here - 1);
    next[columns()] = here[columns()];
}

template <class Compute>
void Block::sweep(Compute compute) {
    const std::size_t count = rows_.size();
    for (std::size_t n = 0; n < count; ++n) {
        const std::size_t i = moving_up() ? n : count - 1 - n;
        double* const next = new_row(i);
        compute(i, next);
        set_boundary_columns(i, next);
    }
    ++step_;
}

void Block::relax() {
    sweep([this](std::size_t i, double* next) { relax_row_at(i, next); });
}

void Block::relax_edges() {
    relax_row_at(0, early_edges_[index(Side::north)].data());
    relax_row_at(rows_.size() - 1, early_edges_[index(Side::south)].data());
}

void Block::relax_inside() {
    sweep([this](std::size_t i, double* next) {
        if (i == 0) std::ranges::copy(early_edge(Side::north), next);
        else if (i + 1 == rows_.size()) std::ranges::copy(early_edge(Side::south), next);
        else relax_row_at(i, next);
    });
}

std::uint64_t Block::checksum() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const std::uint64_t first = (rows_.begin + i) * columns();
        for (std::size_t column = 0; column < columns(); ++column)
            sum += mixed(std::bit_cast<std::uint64_t>(row(i)[column]) ^ mixed(first + column + 1));
    }
    return sum;
}

double Block::squared_error() const {
    double sum = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i)
        for (std::size_t column = 0; column < columns(); ++column) {
            const double difference = row(i)[column] - problem_.solution(rows_.begin + i + 1, column + 1);
            sum += difference * difference;
        }
    return sum;
}

} // namespace kumiki::kernels::laplace
