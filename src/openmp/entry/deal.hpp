#pragma once

#include <algorithm>
#include <cstdint>

namespace kumiki::openmp {

/// How the iterations of a taskloop are dealt out: `tasks` tasks, of which the first `longer` have one iteration more
/// than `length`; but with strict, all have `length`, and the last one what is left.
struct Deal {
    std::uint64_t tasks, length, longer;

    /// The iteration behind the last one of task `number`, which begins at `begin`.
    std::uint64_t end(std::uint64_t number, std::uint64_t begin, std::uint64_t iterations) const {
        return std::min(iterations, begin + length + (number < longer ? 1 : 0));
    }
};

struct DealFlags {
    bool grain;  ///< `wanted` is the length of a task (grainsize), not the number of tasks
    bool strict; ///< modifier of the clause
};

/// `wanted` 0: one task for each thread.
inline Deal deal_out(std::uint64_t iterations, DealFlags flags, std::uint64_t wanted, int threads) {
    if (flags.grain && flags.strict) return {(iterations - 1) / wanted + 1, wanted, 0};
    if (flags.grain) wanted = std::max<std::uint64_t>(iterations / wanted, 1); // at least a grain each
    if (wanted == 0) wanted = static_cast<std::uint64_t>(threads);
    wanted = std::min(wanted, iterations);
    return {wanted, iterations / wanted, iterations % wanted};
}

} // namespace kumiki::openmp
