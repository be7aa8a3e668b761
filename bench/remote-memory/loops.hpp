#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "bench/common/contest.hpp"
#include "bench/common/world.hpp"
#include "bench/remote-memory/pattern.hpp"

// How operations between two ranks are timed, in the same way for Kumiki, MPI, UCX and the bare machine.

namespace kumiki::bench {

inline Row two_rank_row(std::string metric, std::string implementation, std::string unit, measure::Better better,
                        std::size_t bytes) {
    Row row{.metric = std::move(metric),
            .implementation = std::move(implementation),
            .parameters = {},
            .unit = std::move(unit),
            .better = better,
            .samples = {}};
    row.parameters = {{"ranks", std::int64_t{2}}, {"bytes", static_cast<std::int64_t>(bytes)}};
    return row;
}

inline Row latency_row(std::string metric, std::string implementation) {
    return two_rank_row(std::move(metric), std::move(implementation), "us", measure::Better::lower, 8);
}

inline Row bandwidth_row(std::string metric, std::string implementation, std::size_t bytes) {
    return two_rank_row(std::move(metric), std::move(implementation), "GB/s", measure::Better::higher, bytes);
}

inline Row with(Row row, const std::string& parameter, const std::string& value) {
    row.parameters[parameter] = value;
    return row;
}

/// The size of the answer to a message or a transfer whose round trip is measured (Maestro paper, section 5).
inline constexpr std::size_t reply_bytes = 4;

/// An exchange that rank 0 and rank 1 repeat. play(count) performs the calling rank's part in `count` rounds; it
/// returns whether all data that arrived were right. Rank 0's time counts: us per round, divided by `crossings` (2:
/// there and back).
template <World W>
Contestant rounds(W& world, Row row, std::function<bool(std::uint64_t)> play, int crossings) {
    const auto take = [&world, play, crossings](std::uint64_t count) {
        world.barrier();
        bool right = play(warm_up_of(count));
        const auto start = Clock::now();
        right = play(count) && right;
        const double seconds = seconds_since(start);
        return Sample{seconds / static_cast<double>(count) / crossings * 1e6, right};
    };
    const std::uint64_t count =
        calibrate(world, [&](std::uint64_t n) { return take(n).figure * 1e-6 * static_cast<double>(n) * crossings; });
    return {std::move(row), [take, count] { return take(count); }};
}

/// A way to move data to another memory.
struct Mover {
    std::span<std::byte> outgoing; ///< the data that this rank sends; empty if it only receives
    std::span<std::byte> incoming; ///< where arriving data are; empty if this rank only sends
    /// Performs this rank's part in moving `bytes` `count` times, each time the same bytes. At rank 0 it returns when
    /// all data have arrived. Batches have growing numbers, which can announce them. A rank outside the pair does
    /// nothing.
    std::function<void(std::size_t bytes, std::uint64_t count, std::uint64_t batch)> move =
        [](std::size_t, std::uint64_t, std::uint64_t) {};
};

/// Numbers the batches of a program, in the same way at all ranks.
class Batches {
public:
    std::uint64_t next() { return ++last_; }

private:
    std::uint64_t last_ = 0;
};

/// Moves `bytes` `count` times; returns the seconds at rank 0. The data are new in every batch, and are checked after
/// the clock has stopped.
template <World W>
std::pair<double, bool> move_batch(W& world, const Mover& mover, std::size_t bytes, std::uint64_t count,
                                   Batches& batches) {
    const std::uint64_t warm_up = batches.next(), batch = batches.next();
    const auto part = [bytes](std::span<std::byte> all) { return all.first(std::min(bytes, all.size())); };
    const Pattern pattern(batch);
    if (!mover.outgoing.empty()) pattern.fill(part(mover.outgoing));
    world.barrier();
    // Afterwards the caches are no longer in the state in which filling and checking the buffers has left them.
    mover.move(bytes, warm_up_of(count), warm_up);
    const auto start = Clock::now();
    mover.move(bytes, count, batch);
    const double seconds = seconds_since(start);
    const bool right = mover.incoming.empty() || pattern.is_in(part(mover.incoming));
    // The next batch changes the buffers.
    world.barrier();
    return {seconds, right};
}

/// The bandwidth, in bytes per second, of batches of `count`.
template <World W>
Contestant bandwidth(W& world, Row row, Mover mover, std::size_t bytes, std::uint64_t count, Batches& batches) {
    return {std::move(row), [&world, &batches, mover = std::move(mover), bytes, count] {
                const auto [seconds, right] = move_batch(world, mover, bytes, count, batches);
                return Sample{static_cast<double>(bytes) * static_cast<double>(count) / seconds / 1e9, right};
            }};
}

/// The time, in us, of each of `count` moves in a row.
template <World W>
Contestant time_of_each(W& world, Row row, Mover mover, std::size_t bytes, std::uint64_t count, Batches& batches) {
    return {std::move(row), [&world, &batches, mover = std::move(mover), bytes, count] {
                const auto [seconds, right] = move_batch(world, mover, bytes, count, batches);
                return Sample{seconds / static_cast<double>(count) * 1e6, right};
            }};
}

/// If memory is the limit, caches take some rounds to settle on a transfer of tens of MiB.
inline constexpr std::uint64_t settling_count = 8;

/// How often `bytes` must be moved to fill a batch. A batch must be so long that it does not matter whether the
/// receiver has fallen asleep meanwhile and must be woken by the signal; and it moves `bytes` at least `least` times.
template <World W>
std::uint64_t batch_of(W& world, const Mover& mover, std::size_t bytes, Batches& batches,
                       std::uint64_t least = settling_count) {
    const auto seconds = [&](std::uint64_t count) { return move_batch(world, mover, bytes, count, batches).first; };
    return std::max(least, calibrate(world, seconds, 5e-3));
}

/// Private memory from the operating system, already touched. It begins in the middle of a page: where source and
/// target of small copies have the same place in their pages, a processor takes a load for one that depends on the
/// store before it. It usually finds out at once, but with one pair of pages in 400 (probably where the low 20 bits of
/// the physical addresses are equal, too) a copy of a byte takes 4.8 ns instead of 1.0 (Sapphire Rapids), in one start
/// of the program and not in the next.
class Buffer {
public:
    explicit Buffer(std::size_t bytes)
        : pages_(new (std::align_val_t{page}) std::byte[page / 2 + bytes]{}), bytes_(bytes) {}

    std::span<std::byte> span() const { return {pages_.get() + page / 2, bytes_}; }

private:
    static constexpr std::size_t page = 4096;

    struct Free {
        void operator()(std::byte* pages) const { ::operator delete[](pages, std::align_val_t{page}); }
    };
    std::unique_ptr<std::byte[], Free> pages_;
    std::size_t bytes_;
};

} // namespace kumiki::bench
