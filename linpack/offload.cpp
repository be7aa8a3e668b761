#include "linpack/offload.hpp"

#include <algorithm>

#include "linpack/blas.hpp"

namespace kumiki::linpack {

namespace {

/// A measured pace follows what was measured last, but not each of its swings.
void follow(double& pace, double measured) { pace = pace == 0 ? measured : 0.7 * pace + 0.3 * measured; }

} // namespace

std::size_t Offload::slabs(double share, std::size_t columns) {
    const double wanted = share * static_cast<double>(columns) / slab_columns;
    return std::min(static_cast<std::size_t>(wanted + 0.5), columns / slab_columns);
}

accelerator::Room Offload::room(std::size_t rows, std::size_t columns, std::size_t block) {
    const std::size_t width = std::min(columns, slab_columns);
    return {rows * block, columns * block, width * block, std::min(rows, tile_rows) * width};
}

Offload::Offload(std::uint32_t address, const LocalMatrix& matrix, std::size_t block)
    : matrix_(matrix),
      client_(address, room(matrix.rows(), matrix.columns(), block)),
      feeder_([this](const std::stop_token& stop) { feed(stop); }) {}

void Offload::begin(const StepShape& shape, const Panel& panel) {
    const std::lock_guard lock(mutex_);
    shape_ = shape;
    panel_ = panel;
}

void Offload::add(const Range& columns) {
    const std::size_t below = shape_.rows - shape_.own_rows;
    const std::lock_guard lock(mutex_);
    for (std::size_t row = 0; row < below; row += tile_rows) {
        tiles_.push_back({{row, std::min(row + tile_rows, below)}, columns});
        ++unfinished_;
    }
    changed_.notify_all();
}

double* Offload::result(const Tile& tile) const {
    return matrix_.at(shape_.row + shape_.own_rows + tile.rows.begin, tile.columns.begin);
}

void Offload::help() {
    std::unique_lock lock(mutex_);
    ++helpers_;
    while (!tiles_.empty()) {
        const Tile tile = tiles_.back();
        tiles_.pop_back();
        lock.unlock();
        const auto start = Clock::now();
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_length(tile.rows.size()),
                    blas_length(tile.columns.size()), blas_length(shape_.width), -1.0,
                    panel_.rows + (shape_.own_rows + tile.rows.begin) * panel_.lead, blas_length(panel_.lead),
                    place_of(tile.columns), blas_length(tile.columns.size()), 1.0, result(tile),
                    blas_length(matrix_.lead()));
        const std::chrono::duration<double> taken = Clock::now() - start;
        lock.lock();
        follow(thread_pace_, taken.count() / tile.operations(shape_.width));
        done();
    }
    --helpers_;
}

void Offload::finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return unfinished_ == 0 || failure_; });
    if (failure_) std::rethrow_exception(failure_);
}

/// Under the lock.
void Offload::done() {
    if (--unfinished_ == 0) changed_.notify_all();
}

void Offload::feed(const std::stop_token& stop) {
    try {
        feed_until(stop);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        tiles_.clear();
        changed_.notify_all();
    }
}

void Offload::feed_until(const std::stop_token& stop) {
    while (!stop.stop_requested() || !under_way_.empty()) {
        if (client_.has_place())
            if (const std::optional<Tile> tile = take_for_device(stop, under_way_.empty())) {
                send(*tile);
                continue;
            }
        if (!under_way_.empty()) subtract();
    }
}

std::optional<Offload::Tile> Offload::take_for_device(const std::stop_token& stop, bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) changed_.wait(lock, stop, [&] { return device_should_take(); });
    if (!device_should_take()) return std::nullopt;
    const Tile tile = tiles_.front();
    tiles_.pop_front();
    ++at_device_;
    return tile;
}

/// Not a tile that would be done later than if the threads, which have nothing else to do, computed all that are left.
bool Offload::device_should_take() const {
    if (tiles_.empty()) return false;
    if (helpers_ == 0 || device_pace_ == 0 || thread_pace_ == 0) return true;
    const double of_device = static_cast<double>(at_device_ + 1) * device_pace_;
    const double of_threads = static_cast<double>(tiles_.size() + 1) * thread_pace_ / helpers_;
    return of_device <= of_threads;
}

void Offload::send(const Tile& tile) {
    const std::uint64_t version = shape_.step + 1;
    const std::size_t below = shape_.rows - shape_.own_rows, depth = shape_.width;
    if (sent_version_ != version) {
        const double* const first = panel_.rows + shape_.own_rows * panel_.lead;
        for (std::size_t row = 0; row < below; ++row)
            std::copy_n(first + row * panel_.lead, depth, client_.left() + row * depth);
        sent_version_ = version;
    }
    if (under_way_.empty()) last_ = Clock::now();
    client_.send(
        {version, below, tile.rows.begin, depth * tile.columns.begin, tile.rows.size(), tile.columns.size(), depth});
    under_way_.push_back(tile);
}

void Offload::subtract() {
    const Tile tile = under_way_.front();
    const std::size_t columns = tile.columns.size();
    const double* product = client_.take();
    const auto now = Clock::now();
    double* to = result(tile);
    for (std::size_t row = tile.rows.begin; row < tile.rows.end; ++row, product += columns, to += matrix_.lead())
        for (std::size_t column = 0; column < columns; ++column) to[column] -= product[column];
    under_way_.pop_front();
    const std::lock_guard lock(mutex_);
    follow(device_pace_, std::chrono::duration<double>(now - last_).count() / tile.operations(shape_.width));
    last_ = now;
    --at_device_;
    done();
}

} // namespace kumiki::linpack
