#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "accelerator/client.hpp"
#include "kernels/common/range.hpp"
#include "linpack/local_matrix.hpp"
#include "linpack/panel.hpp"

namespace kumiki::linpack {

using kernels::Range;

/// Products of a step that a device and the threads of this rank share: those of slabs whose rows of U are there are
/// cut into tiles; a thread of its own takes tiles from the front for the device, several at a time, and threads that
/// have nothing else to do take them from the back. So both end at about the same time, whatever their speeds.
class Offload {
public:
    /// Columns of a slab whose products are shared, and rows of a tile, at most.
    static constexpr std::size_t slab_columns = 512, tile_rows = 2048;

    /// How many whole slabs of a step that updates so many columns are for a device with this share of them.
    static std::size_t slabs(double share, std::size_t columns);
    /// The room that it needs at the server.
    static accelerator::Room room(std::size_t rows, std::size_t columns, std::size_t block);

    /// `address`: of the server. Throws accelerator::DeviceError, as finish() does.
    Offload(std::uint32_t address, const LocalMatrix& matrix, std::size_t block);

    /// Begins a step: from here on its panel is multiplied. Called by one thread, when the step before is finished.
    void begin(const StepShape& shape, const Panel& panel);
    /// Where the rows of U of a slab shall be written, by rows without gaps.
    double* place_of(const Range& columns) { return client_.right() + shape_.width * columns.begin; }
    /// The rows of U of a slab are there: L21 x U is to be subtracted. Any thread.
    void add(const Range& columns);
    /// Computes tiles until none is left. Any thread.
    void help();
    /// Waits until all tiles of the step are done. One thread, after all have helped.
    void finish();

private:
    using Clock = std::chrono::steady_clock;

    struct Tile {
        Range rows;    ///< of the rows below those of the block
        Range columns; ///< of the slab
        double operations(std::size_t depth) const {
            return 2 * static_cast<double>(rows.size() * columns.size() * depth);
        }
    };

    double* result(const Tile& tile) const;
    void feed(const std::stop_token& stop);
    void feed_until(const std::stop_token& stop);
    /// Waits for a tile if `wait`; returns nothing when there is none that the device should take.
    std::optional<Tile> take_for_device(const std::stop_token& stop, bool wait);
    bool device_should_take() const;
    void send(const Tile& tile);
    /// Subtracts the oldest product that the device makes.
    void subtract();
    void done();

    const LocalMatrix& matrix_;
    accelerator::Client client_; ///< of the thread that feeds the device, but for place_of()
    StepShape shape_;
    Panel panel_{};
    std::uint64_t sent_version_ = 0; ///< of the panel that is in the client's room
    std::deque<Tile> under_way_;     ///< at the device; of the thread that feeds it
    Clock::time_point last_{};       ///< when the device had done a tile, or got one while it had none

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Tile> tiles_;
    std::size_t unfinished_ = 0;
    int helpers_ = 0;
    std::size_t at_device_ = 0;
    double device_pace_ = 0, thread_pace_ = 0; ///< seconds for an operation, measured; 0: not yet
    std::exception_ptr failure_;
    std::jthread feeder_;
};

} // namespace kumiki::linpack
