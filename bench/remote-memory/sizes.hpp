#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "bench/remote-memory/loops.hpp"
#include "bench/remote-memory/options.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {

/// A way to move data, and its row for a number of bytes: either the bandwidth, or the time of each move in us.
struct SizedMover {
    std::function<Row(std::size_t bytes)> row;
    Mover mover;
};

/// The limits of a sweep over sizes.
struct SweepLimits {
    std::uint64_t least_count = settling_count; ///< a batch moves the data at least this often
    /// If a size takes the last mover longer than this, neither it nor any larger size is measured: a slow network
    /// would take minutes to repeat what it has shown at smaller sizes.
    std::optional<double> longest_seconds = std::nullopt;
};

/// Measures all movers beside each other, size after size; returns the program's exit code. Collective.
template <World W>
int sweep_sizes(W& world, const RemoteMemoryOptions& options, const std::vector<SizedMover>& movers, Batches& batches,
                SweepLimits limits = {}) {
    const auto takes_too_long = [&](const Mover& mover, std::size_t bytes) {
        return limits.longest_seconds &&
               world.broadcast(move_batch(world, mover, bytes, 1, batches).first > *limits.longest_seconds) != 0;
    };
    int code = measure::success;
    for (const std::size_t bytes : options.sizes()) {
        if (takes_too_long(movers.back().mover, bytes)) break;
        std::vector<Contestant> contestants;
        for (const auto& [row, mover] : movers) {
            const std::uint64_t count = batch_of(world, mover, bytes, batches, limits.least_count);
            Row made = row(bytes);
            contestants.push_back(made.unit == "us" ? time_of_each(world, std::move(made), mover, bytes, count, batches)
                                                    : bandwidth(world, std::move(made), mover, bytes, count, batches));
        }
        code = std::max(code, contest(world, std::move(contestants), options.budget));
    }
    return code;
}

} // namespace kumiki::bench
