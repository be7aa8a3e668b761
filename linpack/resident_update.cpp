#include "linpack/resident_update.hpp"

#include <algorithm>

#include "linpack/blas.hpp"

namespace kumiki::linpack {

using accelerator::RowCopy;

namespace {

/// The place behind the first `rows` rows of another.
accelerator::Place after(const accelerator::Place& place, std::size_t rows) {
    return {place.memory, place.offset + rows * place.lead, place.lead};
}

} // namespace

ResidentUpdate::ResidentUpdate(Place& place, accelerator::Device& device, const LocalMatrix& matrix,
                               const BlockMap& rows, SwapBoard& board, std::size_t block, std::size_t slab_columns)
    : place_(place),
      device_(device),
      matrix_(matrix),
      rows_(rows),
      board_(board),
      block_(block),
      there_(device, matrix.rows(), matrix.columns(), slab_columns),
      next_panel_(matrix.rows() * block),
      swapped_(device.allocate(block * matrix.columns())),
      products_(device.stream()),
      moves_(device.stream()),
      in_(device.stream()),
      out_(device.stream()),
      panels_(device.stream()),
      updated_(there_.slabs()) {
    for (Turn& turn : turns_) {
        turn.inverse.resize(block * block);
        turn.left = device.allocate(block * (block + matrix.rows()));
        turn.u = device.allocate(block * matrix.columns());
    }
    if (place.grid().rows > 1)
        for (OwnMemory* memory : {&sent_, &received_}) *memory = device.allocate(2 * block * matrix.columns());
    device_.pin(matrix_.at(0, 0), matrix_.rows() * matrix_.lead() * sizeof(double));
    device_.pin(next_panel_.data(), next_panel_.size() * sizeof(double));
}

ResidentUpdate::~ResidentUpdate() {
    // After a failure orders may be left, which name memory of the host.
    for (OwnStream* stream : {&products_, &moves_, &in_, &out_, &panels_}) stream->reset();
    device_.unpin(next_panel_.data());
    device_.unpin(matrix_.at(0, 0));
}

void ResidentUpdate::load() { there_.load(matrix_, *in_); }

void ResidentUpdate::wait(accelerator::Stream& stream, const Event& event) {
    if (event) stream.wait_for(event);
}

accelerator::Place ResidentUpdate::rows_of(const OwnMemory& memory, const Slab& slab, std::size_t rows) {
    return {memory.get(), rows * slab.columns.begin, slab.columns.size()};
}

void ResidentUpdate::begin(const StepShape& shape, const Panel& panel, std::span<const Slab> slabs) {
    shape_ = shape;
    panel_ = panel;
    step_moves_ = StepMoves::of(shape, panel, rows_, place_.grid().rows);
    before_ = updated_;
    packed_.assign(slabs.size(), nullptr);
    moved_.assign(slabs.size(), nullptr);
    bring_left();
    for (const Slab& slab : slabs) order_moves(slab);
}

void ResidentUpdate::bring_left() {
    const std::size_t width = shape_.width, below = shape_.rows - shape_.own_rows;
    std::vector<double>& inverse = turn().inverse;
    std::fill(inverse.begin(), inverse.end(), 0.0);
    for (std::size_t i = 0; i < width; ++i) inverse[i * width + i] = 1;
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, blas_length(width), blas_length(width),
                1.0, panel_.top, blas_length(panel_.lead), inverse.data(), blas_length(width));
    wait(*in_, turn().multiplied);
    in_->copy_in(inverse.data(), width, {width, width}, inverse_place());
    in_->copy_in(panel_.rows + shape_.own_rows * panel_.lead, panel_.lead, {below, width}, left_place());
    wait(*products_, in_->record());
    wait(*products_, turn().u_is_out);
}

void ResidentUpdate::order_moves(const Slab& slab) {
    wait(*moves_, before_[there_.slab_of(slab.columns.begin)]);
    if (place_.grid().rows == 1) swap_here(slab);
    else order_packing(slab);
}

void ResidentUpdate::swap_here(const Slab& slab) {
    const RowMoves& moves = step_moves_.all;
    std::vector<RowCopy> into, out;
    for (std::size_t i = 0; i < moves.into.size(); ++i) into.push_back({moves.into[i], i});
    for (const RowMoves::Move& move : moves.out) out.push_back({move.from, move.to});
    const accelerator::Place columns = there_.at(0, slab.columns.begin);
    moves_->copy_rows(columns, rows_of(swapped_, slab, block_), slab.columns.size(), into);
    moves_->copy_rows(columns, columns, slab.columns.size(), out);
    moved_[slab.number] = moves_->record();
}

void ResidentUpdate::order_packing(const Slab& slab) {
    const std::size_t columns = slab.columns.size();
    std::vector<RowCopy> rows;
    for (const LocalMoves::Row& row : step_moves_.by_row[static_cast<std::size_t>(place_.row())].into)
        rows.push_back({row.here, rows.size()});
    if (shape_.owns_rows())
        for (const RowMoves::Move& move : step_moves_.all.out) rows.push_back({rows_.local_of(move.from), rows.size()});
    const accelerator::Place packed = rows_of(sent_, slab, 2 * block_);
    moves_->copy_rows(there_.at(0, slab.columns.begin), packed, columns, rows);
    wait(*out_, moves_->record());
    out_->copy_out(packed, {rows.size(), columns}, board_.piece(shape_.step, slab.columns.begin), columns);
    packed_[slab.number] = out_->record();
}

void ResidentUpdate::swap_among_ranks(const Slab& slab) {
    const std::size_t columns = slab.columns.size();
    packed_[slab.number]->wait();
    board_.publish(shape_.step, slab, step_moves_.sent_by(place_.row()));
    const int rows = place_.grid().rows;
    const accelerator::Place own = rows_of(sent_, slab, 2 * block_), swapped = rows_of(swapped_, slab, block_);
    accelerator::Place next = rows_of(received_, slab, 2 * block_);
    for (int distance = 0; distance < rows; ++distance) {
        const int row = (place_.row() + rows - distance) % rows;
        const std::size_t count = step_moves_.sent_by(row);
        const double* const piece = board_.await(shape_.step, slab, row, count);
        const std::lock_guard lock(ordering_);
        const accelerator::Place from = distance == 0 ? own : next;
        if (distance != 0) {
            in_->copy_in(piece, columns, {count, columns}, from);
            wait(*moves_, in_->record());
            next = after(next, count);
        }
        std::vector<RowCopy> into, out;
        for (const LocalMoves::Row& move : step_moves_.by_row[static_cast<std::size_t>(row)].into)
            into.push_back({into.size(), move.other});
        moves_->copy_rows(from, swapped, columns, into);
        if (row != shape_.owner_row) continue;
        for (const LocalMoves::Row& move : step_moves_.by_row[static_cast<std::size_t>(place_.row())].out)
            out.push_back({into.size() + move.other, move.here});
        moves_->copy_rows(from, there_.at(0, slab.columns.begin), columns, out);
    }
    const std::lock_guard lock(ordering_);
    moved_[slab.number] = moves_->record();
}

void ResidentUpdate::run(const Slab& slab, Workspace&) {
    if (place_.grid().rows > 1) swap_among_ranks(slab);
    const std::lock_guard lock(ordering_);
    multiply(slab);
}

void ResidentUpdate::multiply(const Slab& slab) {
    const std::size_t columns = slab.columns.size(), width = shape_.width, below = shape_.rows - shape_.own_rows;
    const accelerator::Place u = rows_of(turn().u, slab, block_);
    wait(*products_, moved_[slab.number]);
    products_->multiply({width, columns, width, 1, inverse_place(), rows_of(swapped_, slab, block_), 0, u});
    if (shape_.own_rows != 0) {
        wait(*out_, products_->record());
        out_->copy_out(u, {shape_.own_rows, columns}, matrix_.at(shape_.row, slab.columns.begin), matrix_.lead());
    }
    if (below != 0)
        products_->multiply({below, columns, width, -1, left_place(), u, 1,
                             there_.at(shape_.row + shape_.own_rows, slab.columns.begin)});
    updated_[there_.slab_of(slab.columns.begin)] = products_->record();
    if (slab.makes_panel) order_panel(slab);
}

void ResidentUpdate::order_panel(const Slab& slab) {
    const std::size_t columns = slab.columns.size(), row = shape_.row + shape_.own_rows;
    wait(*panels_, updated_[there_.slab_of(slab.columns.begin)]);
    panels_->copy_out(there_.at(row, slab.columns.begin), {matrix_.rows() - row, columns}, next_panel_.data(), columns);
    panel_is_here_ = panels_->record();
}

void ResidentUpdate::bring_panel(const StepShape& shape, std::size_t column, const Panel& panel) {
    if (panel_is_here_ || shape.step == 0) {
        if (panel_is_here_) panel_is_here_->wait();
        // The host has the matrix as it was made.
        const double* from = panel_is_here_ ? next_panel_.data() : matrix_.at(shape.row, column);
        const std::size_t lead = panel_is_here_ ? shape.width : matrix_.lead();
        for (std::size_t row = 0; row < shape.rows; ++row, from += lead)
            std::copy_n(from, shape.width, panel.rows + row * panel.lead);
        panel_is_here_ = nullptr;
        return;
    }
    wait(*panels_, updated_[there_.slab_of(column)]);
    panels_->copy_out(there_.at(shape.row, column), {shape.rows, shape.width}, panel.rows, panel.lead);
    panels_->record()->wait();
}

void ResidentUpdate::end() {
    turn().multiplied = products_->record();
    turn().u_is_out = out_->record();
    in_->record()->wait();
}

void ResidentUpdate::finish() {
    for (accelerator::Stream* stream : {products_.get(), moves_.get(), in_.get(), out_.get(), panels_.get()})
        stream->record()->wait();
}

} // namespace kumiki::linpack
