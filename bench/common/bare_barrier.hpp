#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kumiki::bench {

/// The distance of flags in bytes: processors fetch lines in pairs.
inline constexpr std::size_t line = 128;

/// A word alone in its cache line.
struct alignas(line) Flag {
    std::uint64_t word = 0;
};

using Word = std::atomic_ref<std::uint64_t>;

/// The number of rounds that a dissemination barrier of `parties` needs.
constexpr int dissemination_steps(int parties) {
    int steps = 0;
    while ((1 << steps) < parties) ++steps;
    return steps;
}

/// The minimal barrier, from the point of view of one party: in each step it raises a flag of the party that is 2^step
/// further on, and waits for its own (dissemination order). Between two parties this is the bare two-flag barrier. It
/// only spins.
class BareBarrier {
public:
    struct Step {
        std::uint64_t* theirs;
        std::uint64_t* mine;
    };

    explicit BareBarrier(std::vector<Step> steps) : steps_(std::move(steps)) {}

    void wait() {
        ++epoch_;
        for (const Step& step : steps_) {
            Word(*step.theirs).store(epoch_, std::memory_order_release);
            // The neighbour may already be one barrier ahead.
            while (Word(*step.mine).load(std::memory_order_acquire) < epoch_) {}
        }
    }

private:
    std::vector<Step> steps_;
    std::uint64_t epoch_ = 0;
};

} // namespace kumiki::bench
