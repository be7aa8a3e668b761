#include "linpack/update.hpp"

#include <algorithm>

#include "linpack/blas.hpp"

namespace kumiki::linpack {

void Update::begin(const StepShape& shape, const Panel& panel, std::span<const Slab>) {
    shape_ = shape;
    panel_ = panel;
    moves_ = StepMoves::of(shape, panel, rows_, place_.grid().rows);
    if (offload_) offload_->begin(shape, panel);
}

void Update::help() {
    if (offload_) offload_->help();
}

void Update::end() {
    if (offload_) offload_->finish();
}

void Update::bring_panel(const StepShape& shape, std::size_t column, const Panel& panel) {
    for (std::size_t row = 0; row < shape.rows; ++row)
        std::copy_n(matrix_.at(shape.row + row, column), shape.width, panel.rows + row * panel.lead);
}

void Update::run(const Slab& slab, Workspace& workspace) {
    const std::size_t columns = slab.columns.size();
    const bool offloaded = slab.for_device && offload_ != nullptr;
    if (!offloaded && workspace.size() < shape_.width * columns) workspace.resize(shape_.width * columns);
    double* const u = offloaded ? offload_->place_of(slab.columns) : workspace.data();
    if (place_.grid().rows == 1) swap_here(slab.columns, u);
    else swap_among_ranks(slab, u);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, blas_length(shape_.width),
                blas_length(columns), 1.0, panel_.top, blas_length(panel_.lead), u, blas_length(columns));
    for (std::size_t i = 0; i < shape_.own_rows; ++i)
        std::copy_n(u + i * columns, columns, matrix_.at(shape_.row + i, slab.columns.begin));
    if (offloaded) offload_->add(slab.columns);
    else multiply(slab, u);
}

void Update::multiply(const Slab& slab, const double* u) {
    const std::size_t below = shape_.rows - shape_.own_rows, columns = slab.columns.size();
    if (below == 0) return;
    for (std::size_t begin = 0; begin < columns;) {
        const std::size_t left = columns - begin, width = width_ ? width_(left) : left;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_length(below), blas_length(width),
                    blas_length(shape_.width), -1.0, panel_.rows + shape_.own_rows * panel_.lead,
                    blas_length(panel_.lead), u + begin, blas_length(columns), 1.0,
                    matrix_.at(shape_.row + shape_.own_rows, slab.columns.begin + begin), blas_length(matrix_.lead()));
        products_.fetch_add(1, std::memory_order_relaxed);
        begin += width;
    }
}

void Update::swap_here(const Range& columns, double* u) {
    const std::size_t width = columns.size();
    for (std::size_t i = 0; i < moves_.all.into.size(); ++i)
        std::copy_n(matrix_.at(moves_.all.into[i], columns.begin), width, u + i * width);
    for (const RowMoves::Move& move : moves_.all.out)
        std::copy_n(matrix_.at(move.from, columns.begin), width, matrix_.at(move.to, columns.begin));
}

void Update::send(const Slab& slab) {
    const std::size_t width = slab.columns.size(), column = slab.columns.begin;
    double* const piece = board_.piece(shape_.step, column);
    double* next = piece;
    const auto pack = [&](std::size_t row) { next = std::copy_n(matrix_.at(row, column), width, next); };
    for (const LocalMoves::Row& row : moves_.by_row[static_cast<std::size_t>(place_.row())].into) pack(row.here);
    if (shape_.owns_rows())
        for (const RowMoves::Move& move : moves_.all.out) pack(rows_.local_of(move.from));
    board_.publish(shape_.step, slab, moves_.sent_by(place_.row()));
}

void Update::swap_among_ranks(const Slab& slab, double* u) {
    send(slab);
    const std::size_t width = slab.columns.size(), column = slab.columns.begin;
    const LocalMoves& mine = moves_.by_row[static_cast<std::size_t>(place_.row())];
    const int rows = place_.grid().rows;
    for (int distance = 0; distance < rows; ++distance) {
        const int row = (place_.row() + rows - distance) % rows;
        // Also a piece that is empty is awaited: SwapBoard counts on it.
        const double* const piece = board_.await(shape_.step, slab, row, moves_.sent_by(row));
        const LocalMoves& theirs = moves_.by_row[static_cast<std::size_t>(row)];
        for (std::size_t i = 0; i < theirs.into.size(); ++i)
            std::copy_n(piece + i * width, width, u + theirs.into[i].other * width);
        if (row != shape_.owner_row) continue;
        const double* const out = piece + theirs.into.size() * width;
        for (const LocalMoves::Row& move : mine.out)
            std::copy_n(out + move.other * width, width, matrix_.at(move.here, column));
    }
}

} // namespace kumiki::linpack
