#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kumiki::bench {

/// Bytes from one flag to the next: processors fetch lines in pairs.
inline constexpr std::size_t line = 128;

/// A word alone in its cache line.
struct alignas(line) Flag {
    std::uint64_t word = 0;
};

using Word = std::atomic_ref<std::uint64_t>;

/// The rounds that a dissemination barrier of `parties` needs.
constexpr int dissemination_steps(int parties) {
    int steps = 0;
    while ((1 << steps) < parties) ++steps;
    return steps;
}

/// The least that a barrier can be, as one party of it: in each step raise a flag of the party 2^step further on and
/// wait for one's own (dissemination order). Between two parties it is the bare two-flag barrier. It only ever spins.
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
            // The neighbour may be one barrier ahead already.
            while (Word(*step.mine).load(std::memory_order_acquire) < epoch_) {}
        }
    }

private:
    std::vector<Step> steps_;
    std::uint64_t epoch_ = 0;
};

} // namespace kumiki::bench
