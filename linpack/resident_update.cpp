#include "linpack/resident_update.hpp"

#include <algorithm>

#include "linpack/blas.hpp"
#include "linpack/lead.hpp"

namespace kumiki::linpack {

using accelerator::RowCopy;

namespace {

/// The place behind the first `rows` rows of another.
accelerator::Place after(const accelerator::Place& place, std::size_t rows) {
    return {place.memory, place.offset + rows * place.lead, place.lead};
}

void copy_rows(const double* from, std::size_t from_lead, std::size_t rows, std::size_t columns, double* to,
               std::size_t to_lead) {
    for (std::size_t row = 0; row < rows; ++row) std::copy_n(from + row * from_lead, columns, to + row * to_lead);
}

} // namespace

ResidentUpdate::ResidentUpdate(Place& place, accelerator::Device& device, const LocalMatrix& matrix,
                               const BlockMap& rows, const BlockMap& columns, SwapBoard& board, std::size_t block,
                               std::size_t slab_columns)
    : place_(place),
      device_(device),
      matrix_(matrix),
      rows_(rows),
      columns_(columns),
      board_(board),
      block_(block),
      there_(device, matrix.rows(), matrix.columns(), slab_columns),
      factors_panels_(place.grid().rows == 1 && device.factors()),
      next_panel_(matrix.rows() * block),
      exchanges_(block + 1),
      swapped_(allocate_rows(block)),
      products_(device.stream()),
      moves_(device.urgent_stream()),
      in_(device.stream()),
      out_(device.stream()),
      panels_(device.urgent_stream()),
      updated_(there_.slabs()) {
    for (Turn& turn : turns_) {
        turn.inverse.resize(block * block);
        pin(turn.inverse);
        turn.left = device.allocate(block * (block + matrix.rows()));
        turn.u = allocate_rows(block);
    }
    if (place.grid().rows > 1)
        for (OwnMemory* memory : {&sent_, &received_}) *memory = allocate_rows(2 * block);
    device_.pin(matrix_.at(0, 0), matrix_.rows() * matrix_.lead() * sizeof(double));
    // A copy to memory without page locks would not return before the work that it waits for is done.
    pin(next_panel_);
    pin(exchanges_);
}

ResidentUpdate::~ResidentUpdate() {
    // After a failure orders may be left, which name memory of the host.
    for (OwnStream* stream : {&products_, &moves_, &in_, &out_, &panels_}) stream->reset();
    for (Turn& turn : turns_) device_.unpin(turn.inverse.data());
    device_.unpin(exchanges_.data());
    device_.unpin(next_panel_.data());
    device_.unpin(matrix_.at(0, 0));
}

void ResidentUpdate::load() { there_.load(matrix_, *in_); }

void ResidentUpdate::wait(accelerator::Stream& stream, const Event& event) {
    if (event) stream.wait_for(event);
}

template <class Work>
void ResidentUpdate::attempt(Work work) {
    if (failed_) return;
    try {
        work();
    } catch (const accelerator::DeviceError&) {
        if (place_.grid().rows == 1) throw; // no rank waits for this one before the next panel
        if (!failed_.exchange(true)) failure_ = std::current_exception();
    }
}

void ResidentUpdate::throw_failure() const {
    if (failure_) std::rethrow_exception(failure_);
}

/// The last slab has the right side, a column of its own: its rows, which are operands of products, are aligned, too.
accelerator::Place ResidentUpdate::rows_of(const OwnMemory& memory, const Slab& slab, std::size_t rows) const {
    const std::size_t columns = slab.columns.size();
    return {memory.get(), rows * slab.columns.begin,
            slab.columns.end == matrix_.columns() ? lead_for(columns) : columns};
}

ResidentUpdate::OwnMemory ResidentUpdate::allocate_rows(std::size_t rows) {
    constexpr std::size_t margin = 2 * kernels::line_bytes / sizeof(double); // of lead_for()
    return device_.allocate(rows * (matrix_.columns() + margin));
}

void ResidentUpdate::begin(const StepShape& shape, const Panel& panel, std::span<const Slab> slabs) {
    throw_failure(); // of a panel that was made after the last step
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
    kernels::PageVector<double>& inverse = turn().inverse;
    std::fill(inverse.begin(), inverse.end(), 0.0);
    for (std::size_t i = 0; i < width; ++i) inverse[i * width + i] = 1;
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, blas_length(width), blas_length(width),
                1.0, panel_.top, blas_length(panel_.lead), inverse.data(), blas_length(width));
    wait(*in_, turn().multiplied);
    in_->copy_in(inverse.data(), width, {width, width}, inverse_place());
    if (!panel_lies_here())
        in_->copy_in(panel_.rows + shape_.own_rows * panel_.lead, panel_.lead, {below, width}, left_place());
    wait(*products_, in_->record());
    wait(*products_, turn().u_is_out);
}

accelerator::Place ResidentUpdate::panel_place(const StepShape& shape) {
    return {turns_[shape.step % turns_.size()].left.get(), block_ * block_, shape.width};
}

accelerator::Place ResidentUpdate::left_place() {
    return after(panel_place(shape_), panel_lies_here() ? shape_.own_rows : 0);
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
    attempt([&] { packed_[slab.number]->wait(); });
    board_.publish(shape_.step, slab, step_moves_.sent_by(place_.row()));
    const int rows = place_.grid().rows;
    const accelerator::Place own = rows_of(sent_, slab, 2 * block_), swapped = rows_of(swapped_, slab, block_);
    accelerator::Place next = rows_of(received_, slab, 2 * block_);
    for (int distance = 0; distance < rows; ++distance) {
        const int row = (place_.row() + rows - distance) % rows;
        const std::size_t count = step_moves_.sent_by(row);
        const double* const piece = board_.await(shape_.step, slab, row, count);
        attempt([&] {
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
            if (row != shape_.owner_row) return;
            for (const LocalMoves::Row& move : step_moves_.by_row[static_cast<std::size_t>(place_.row())].out)
                out.push_back({into.size() + move.other, move.here});
            moves_->copy_rows(from, there_.at(0, slab.columns.begin), columns, out);
        });
    }
    attempt([&] {
        const std::lock_guard lock(ordering_);
        moved_[slab.number] = moves_->record();
    });
}

void ResidentUpdate::run(const Slab& slab, Workspace&) {
    if (place_.grid().rows > 1) swap_among_ranks(slab);
    attempt([&] {
        const std::lock_guard lock(ordering_);
        multiply(slab);
    });
}

void ResidentUpdate::multiply(const Slab& slab) {
    const std::size_t columns = slab.columns.size(), width = shape_.width, below = shape_.rows - shape_.own_rows;
    const accelerator::Place u = rows_of(turn().u, slab, block_);
    wait(*products_, moved_[slab.number]);
    products_->multiply({width, columns, width, 1, inverse_place(), rows_of(swapped_, slab, block_), 0, u});
    const Event solved = products_->record();
    if (below != 0)
        products_->multiply({below, columns, width, -1, left_place(), u, 1,
                             there_.at(shape_.row + shape_.own_rows, slab.columns.begin)});
    updated_[there_.slab_of(slab.columns.begin)] = products_->record();
    if (slab.makes_panel) order_panel(shape_of(shape_.step + 1, rows_, columns_, place_.row()), slab.columns.begin);
    // Last, because a copy to memory that could not be locked holds the caller up until the solution is there.
    if (shape_.own_rows != 0) {
        wait(*out_, solved);
        out_->copy_out(u, {shape_.own_rows, columns}, matrix_.at(shape_.row, slab.columns.begin), matrix_.lead());
    }
}

void ResidentUpdate::order_panel(const StepShape& shape, std::size_t column) {
    const accelerator::Place columns = there_.at(shape.row, column);
    const accelerator::Place panel = factors_panels_ ? panel_place(shape) : columns;
    wait(*panels_, updated_[there_.slab_of(column)]);
    if (factors_panels_)
        panels_->factor(columns, {shape.rows, shape.width}, panel, std::span(exchanges_).first(shape.width + 1));
    const bool only_top = factors_panels_ && place_.grid().columns == 1; // nobody else needs L21
    panels_->copy_out(panel, {only_top ? shape.width : shape.rows, shape.width}, next_panel_.data(), shape.width);
    panel_is_here_ = panels_->record();
}

void ResidentUpdate::await_panel(const StepShape& shape, std::size_t column) {
    if (!panel_is_here_) order_panel(shape, column);
    panel_is_here_->wait();
    panel_is_here_ = nullptr;
}

void ResidentUpdate::bring_panel(const StepShape& shape, std::size_t column, const Panel& panel) {
    // Before the first step the host has the matrix as it was made.
    const bool first = shape.step == 0;
    if (!first) attempt([&] { await_panel(shape, column); });
    const double* const from = first ? matrix_.at(shape.row, column) : next_panel_.data();
    copy_rows(from, first ? matrix_.lead() : shape.width, shape.rows, shape.width, panel.rows, panel.lead);
}

bool ResidentUpdate::factor_panel(const StepShape& shape, std::size_t column, const Panel& panel) {
    await_panel(shape, column);
    copy_rows(next_panel_.data(), shape.width, shape.width, shape.width, panel.top, panel.lead);
    if (place_.grid().columns > 1)
        copy_rows(next_panel_.data(), shape.width, shape.rows, shape.width, panel.rows, panel.lead);
    for (std::size_t i = 0; i < shape.width; ++i)
        panel.pivots[i] = static_cast<double>(shape.first) + exchanges_[i] - 1;
    return exchanges_[shape.width] == 0;
}

void ResidentUpdate::end() {
    throw_failure();
    turn().multiplied = products_->record();
    turn().u_is_out = out_->record();
    in_->record()->wait();
}

void ResidentUpdate::finish() {
    for (accelerator::Stream* stream : {products_.get(), moves_.get(), in_.get(), out_.get(), panels_.get()})
        stream->record()->wait();
}

} // namespace kumiki::linpack
