#pragma once

#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "accelerator/device.hpp"
#include "linpack/device_matrix.hpp"
#include "linpack/row_moves.hpp"
#include "linpack/swap_board.hpp"
#include "linpack/updater.hpp"

namespace kumiki::linpack {

/// The resident form: this rank's part of the matrix lives on a device of its own; rows change places there, and it is
/// updated there. Panels are factored there, too, where the device has a solver and there is one process row; else on
/// the host. The host gives the device its orders up to a step ahead, and the device has five streams, so that what
/// travels does not delay what is computed:
///
/// - `products_`: U = L11^-1 x rows, then the subtraction of L21 x U, slab by slab, the columns of the next panel
/// first;
/// - `moves_`: rows change places in a slab, as soon as the step before has been applied to it;
/// - `in_`: L11^-1 and L21 to the device, and rows of other ranks;
/// - `out_`: rows for other ranks to the host, and rows of U, which are final;
/// - `panels_`: the next panel is factored, or its columns go to the host, which nothing that was ordered before may
/// delay.
///
/// L11 is inverted on the host, for devices are slow at triangular solves and fast at products.
///
/// Why memory of the device is free when it is written again: L21, L11^-1 and U lie in one of two places, by turns; the
/// writer waits for an event of two steps before. Rows on their way lie in places by column, so that only work on the
/// same columns can meet there: it is ordered, because the rows of a slab move only when the products of the step
/// before, which come after all moves of that step in this slab, are done with it. A panel that is factored on the
/// device goes to the place of its L21 at once: products are faster with operands whose rows lie close to each other.
///
/// When the device fails while several process rows make a step, this rank still takes part in it, with numbers that
/// mean nothing, and end() throws: other ranks wait for its rows and pivots, and its own threads for theirs.
class ResidentUpdate : public Updater {
public:
    /// `slab_columns`: of DeviceMatrix, the same at all ranks of a process column. Throws accelerator::DeviceError, as
    /// all functions do.
    ResidentUpdate(Place& place, accelerator::Device& device, const LocalMatrix& matrix, const BlockMap& rows,
                   const BlockMap& columns, SwapBoard& board, std::size_t block, std::size_t slab_columns);
    ~ResidentUpdate() override;
    ResidentUpdate(const ResidentUpdate&) = delete;
    ResidentUpdate& operator=(const ResidentUpdate&) = delete;

    void load() override;
    void begin(const StepShape& shape, const Panel& panel, std::span<const Slab> slabs) override;
    void run(const Slab& slab, Workspace& workspace) override;
    void bring_panel(const StepShape& shape, std::size_t column, const Panel& panel) override;
    bool factors_panels() const override { return factors_panels_; }
    bool factor_panel(const StepShape& shape, std::size_t column, const Panel& panel) override;
    void end() override;
    void finish() override;
    bool only_orders() const override { return true; }

private:
    using Event = std::shared_ptr<accelerator::Event>;
    using OwnMemory = std::unique_ptr<accelerator::Memory>;
    using OwnStream = std::unique_ptr<accelerator::Stream>;

    /// What is kept for one of two steps by turns.
    struct Turn {
        kernels::PageVector<double> inverse; ///< of L11, on the host
        OwnMemory left;                      ///< L11^-1, then L21, or the panel that was factored here
        OwnMemory u;
        Event multiplied; ///< all products of its last step
        Event u_is_out;   ///< its rows of U are on the host
    };

    Turn& turn() { return turns_[shape_.step % turns_.size()]; }
    /// Rows of the columns of a slab in memory that has room for `rows` of every column, whatever the width of the
    /// step.
    accelerator::Place rows_of(const OwnMemory& memory, const Slab& slab, std::size_t rows) const;
    OwnMemory allocate_rows(std::size_t rows);
    accelerator::Place inverse_place() { return {turn().left.get(), 0, shape_.width}; }
    /// Of the panel of a step that is factored on this device.
    accelerator::Place panel_place(const StepShape& shape);
    accelerator::Place left_place();
    bool panel_lies_here() const { return factors_panels_ && shape_.owner_column == place_.column(); }
    void bring_left();
    template <class Vector>
    void pin(Vector& memory) {
        device_.pin(memory.data(), memory.size() * sizeof(typename Vector::value_type));
    }
    /// Orders the first moves of a slab: the only ones where there is one process row, else those of rows that are
    /// sent.
    void order_moves(const Slab& slab);
    void swap_here(const Slab& slab);
    void order_packing(const Slab& slab);
    /// Sends the rows that were packed, and orders the moves of those that come.
    void swap_among_ranks(const Slab& slab);
    void multiply(const Slab& slab);
    /// The panel of `shape` is factored, or its columns go to the host, before all that is ordered later.
    void order_panel(const StepShape& shape, std::size_t column);
    void await_panel(const StepShape& shape, std::size_t column);
    static void wait(accelerator::Stream& stream, const Event& event);
    /// Does what needs the device, unless that has failed; a failure is kept for throw_failure(). Any thread.
    template <class Work>
    void attempt(Work work);
    void throw_failure() const;

    Place& place_;
    accelerator::Device& device_;
    const LocalMatrix& matrix_; ///< of the host
    const BlockMap &rows_, &columns_;
    SwapBoard& board_;
    std::size_t block_;
    DeviceMatrix there_;
    std::array<Turn, 2> turns_;
    bool factors_panels_;
    kernels::PageVector<double> next_panel_;
    kernels::PageVector<int> exchanges_;  ///< of the next panel, as Stream::factor() tells them
    OwnMemory swapped_, sent_, received_; ///< rows of U before the solve; rows on their way
    OwnStream products_, moves_, in_, out_, panels_;

    StepShape shape_;
    Panel panel_{};
    StepMoves step_moves_;
    std::vector<Event> updated_; ///< by slab of the matrix: its last product
    std::vector<Event> before_;  ///< the same when this step began
    std::vector<Event> packed_;  ///< by slab of the step: the rows that are sent are on the host
    std::vector<Event> moved_;   ///< by slab of the step: rows have changed places
    Event panel_is_here_;        ///< the next panel, or what the host needs of it, is in next_panel_; null: not ordered
    std::mutex ordering_;        ///< of threads that give orders
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_; ///< read by one thread, when all have met
};

} // namespace kumiki::linpack
