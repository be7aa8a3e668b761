#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/common/contest.hpp"
#include "bench/common/world.hpp"
#include "bench/routines/options.hpp"

namespace kumiki::bench {

/// An open chain: each rank sends to the next one, the last to none (JAMSTEC paper, section 2). `none` is what the
/// system calls a rank that is not there.
struct Neighbours {
    int next, previous;

    template <World W>
    static Neighbours of(W& world, int none) {
        return {world.rank() + 1 < world.size() ? world.rank() + 1 : none, world.rank() > 0 ? world.rank() - 1 : none};
    }
};

/// What one rank sends and receives: reals of 8 bytes, other ones in every batch.
class Messages {
public:
    Messages(int rank, std::size_t bytes) : rank_(rank), sent_(bytes / sizeof(double)), received_(sent_.size()) {}

    void renew() { std::iota(sent_.begin(), sent_.end(), first(rank_, ++batch_)); }
    /// Whether what was received last is what the rank before this one sends in this batch.
    bool right() const {
        double expected = first(rank_ - 1, batch_);
        return rank_ == 0 || std::ranges::all_of(received_, [&](double value) { return value == expected++; });
    }
    std::span<const double> sent() const { return sent_; }
    std::span<double> received() { return received_; }

private:
    static double first(int rank, int batch) { return 1e9 * (rank + 1) + 1e3 * batch; }

    int rank_, batch_ = 0;
    std::vector<double> sent_, received_;
};

/// A routine: sends and receives what `messages` hold, once.
using Routine = std::pair<std::string, std::function<void(Messages& messages)>>;

/// Bandwidth of a routine over all senders: bytes that all ranks send, over the time of the slowest. Every rank times
/// `calls` calls.
template <World W>
Contestant chain(W& world, std::string implementation, const Routine& routine, Messages& messages,
                 std::uint64_t calls) {
    const std::size_t bytes = messages.sent().size_bytes();
    Row row{.metric = "routine.bandwidth",
            .implementation = std::move(implementation),
            .parameters = {},
            .unit = "GB/s",
            .better = measure::Better::higher,
            .samples = {}};
    row.parameters = {{"ranks", std::int64_t{world.size()}},
                      {"routine", routine.first},
                      {"bytes", static_cast<std::int64_t>(bytes)},
                      {"scope", "all"}};
    const auto take = [&world, &messages, call = routine.second, calls, bytes] {
        messages.renew();
        world.barrier();
        const auto start = Clock::now();
        for (std::uint64_t i = 0; i < calls; ++i) call(messages);
        const double slowest = world.largest(seconds_since(start));
        const double moved = static_cast<double>(bytes) * static_cast<double>(calls) * (world.size() - 1);
        return Sample{moved / slowest * 1e-9, messages.right()};
    };
    return {std::move(row), take};
}

/// The same figure for one sender.
inline Contestant of_one(Contestant all, int senders) {
    all.row.parameters["scope"] = "one";
    for (double& sample : all.row.samples) sample /= senders;
    return all;
}

/// Measures all routines beside each other, size after size; the program's exit code. Collective. Throws where there is
/// nobody to send to.
template <World W>
int sweep_routines(W& world, const RoutineOptions& options, const std::string& implementation,
                   const std::function<std::vector<Routine>(std::size_t bytes)>& routines) {
    if (world.size() < 2) throw std::runtime_error("a chain needs two ranks or more; start the program with -n 4");
    int code = measure::success;
    for (const std::size_t bytes : options.sizes()) {
        Messages messages(world.rank(), bytes);
        std::vector<Contestant> contestants;
        for (const Routine& each : routines(bytes))
            contestants.push_back(chain(world, implementation, each, messages, options.calls));
        take_turns(world, std::span(contestants), options.budget);
        const std::size_t measured = contestants.size();
        for (std::size_t i = 0; i < measured; ++i) contestants.push_back(of_one(contestants[i], world.size() - 1));
        code = std::max(code, report(world, std::span<const Contestant>(contestants)));
    }
    return code;
}

} // namespace kumiki::bench
