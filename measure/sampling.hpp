#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace CLI {
class App;
}

namespace kumiki::measure {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// How many samples a program takes: at most `samples`, and after `seconds` no more, but at least `fewest`.
struct Budget {
    std::size_t samples = 30;
    double seconds = 1.0;
    std::size_t fewest = 3;

    /// Adds --samples and --seconds to a program's options.
    void add_to(CLI::App& program);
    bool wants_more(std::size_t taken, Clock::time_point start) const {
        return taken < fewest || (taken < samples && seconds_since(start) < seconds);
    }
};

/// Calls take() -> double once to warm up and then as often as the budget allows; returns the samples in order.
/// For one process only: the ranks of a job must agree on when to stop, see sample_together.
template <class Take>
std::vector<double> sample(const Budget& budget, Take take) {
    take();
    std::vector<double> taken;
    for (const auto start = Clock::now(); budget.wants_more(taken.size(), start);) taken.push_back(take());
    return taken;
}

/// The same for several ranks: agree(bool) -> bool hands rank 0's decision to all (a broadcast), and take() itself
/// brings back the figure that counts for the job (the largest over ranks).
template <class Take, class Agree>
std::vector<double> sample_together(const Budget& budget, Take take, Agree agree) {
    take();
    std::vector<double> taken;
    for (const auto start = Clock::now(); agree(budget.wants_more(taken.size(), start));) taken.push_back(take());
    return taken;
}

} // namespace kumiki::measure
