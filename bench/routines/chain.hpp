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

/// An open chain: each rank sends to the next one, and the last one sends to none (JAMSTEC paper, section 2). `none`
/// stands for a rank that does not exist.
struct Neighbours {
    int next, previous;

    template <World W>
    static Neighbours of(W& world, int none) {
        return {world.rank() + 1 < world.size() ? world.rank() + 1 : none, world.rank() > 0 ? world.rank() - 1 : none};
    }
};

/// The data that one rank sends and receives: reals of 8 bytes, different in every batch.
class Messages {
public:
    Messages(int rank, std::size_t bytes) : rank_(rank), sent_(bytes / sizeof(double)), received_(sent_.size()) {}

    void renew() { std::iota(sent_.begin(), sent_.end(), first(rank_, ++batch_)); }
    /// Whether the latest received data are those that the previous rank sends in this batch.
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

/// A routine: sends and receives the data of `messages` once.
struct Routine {
    std::string name;
    std::function<void(Messages& messages)> call;
    bool bound = false; ///< not a routine but a bound: nothing arrives, so nothing is checked
};

/// The bound of all routines: a rank that receives a message copies its bytes once, within its own memory.
inline Routine copy_alone(int rank) {
    const auto copy = [rank](Messages& messages) {
        if (rank > 0) std::ranges::copy(messages.sent(), messages.received().begin());
    };
    return {"memcpy", copy, true};
}

/// The calls of one routine along the chain, and their results: the bandwidth of the chain, which is the bytes that all
/// ranks send divided by the time of the slowest rank, and that of each rank, which is the bytes of a message divided
/// by the rank's own time. A rank in the middle sends and receives; the first one only sends, and the last one only
/// receives.
template <World W>
class Chain {
public:
    Chain(W& world, Routine routine, Messages& messages, std::uint64_t calls)
        : world_(world),
          routine_(std::move(routine)),
          messages_(messages),
          calls_(calls),
          of_ranks_(static_cast<std::size_t>(world.size())) {}

    /// Measures a batch of calls. Collective.
    Sample take() {
        messages_.renew();
        std::vector<double> seconds(of_ranks_.size()); // every rank fills in its own time
        world_.barrier();
        const auto start = Clock::now();
        for (std::uint64_t i = 0; i < calls_; ++i) routine_.call(messages_);
        seconds[static_cast<std::size_t>(world_.rank())] = seconds_since(start);
        world_.largest(std::span(seconds));
        const double gigabytes = static_cast<double>(bytes()) * static_cast<double>(calls_) * 1e-9;
        for (std::size_t rank = 0; rank < seconds.size(); ++rank) of_ranks_[rank].push_back(gigabytes / seconds[rank]);
        return {gigabytes * (world_.size() - 1) / std::ranges::max(seconds), routine_.bound || messages_.right()};
    }

    /// The row of the chain, without samples.
    Row of_all(const std::string& implementation) const {
        Row row{.metric = "routine.bandwidth",
                .implementation = routine_.bound ? "bound" : implementation,
                .parameters = {},
                .unit = "GB/s",
                .better = measure::Better::higher,
                .samples = {}};
        row.parameters = {{"ranks", std::int64_t{world_.size()}},
                          {"routine", routine_.name},
                          {"bytes", static_cast<std::int64_t>(bytes())},
                          {"scope", "all"}};
        return row;
    }
    /// The row of a rank beside the chain's, when all samples of the chain have been taken; it is about the same calls.
    Row of_rank(Row all, std::size_t rank) const {
        all.parameters["scope"] = "one";
        all.parameters["rank"] = static_cast<std::int64_t>(rank);
        const auto& taken = of_ranks_[rank]; // including those of the warm-up
        all.samples.assign(taken.end() - static_cast<std::ptrdiff_t>(all.samples.size()), taken.end());
        return all;
    }

    /// The first rank that has a row: with a bound, the first rank of the chain has nothing to do.
    std::size_t first_rank() const { return routine_.bound ? 1 : 0; }

private:
    std::size_t bytes() const { return messages_.sent().size_bytes(); }

    W& world_;
    Routine routine_;
    Messages& messages_;
    std::uint64_t calls_;
    std::vector<std::vector<double>> of_ranks_; ///< bandwidths in the order taken
};

/// Prints the rows of the chains that the contestants have measured, each followed by those of its ranks; returns the
/// exit code.
template <World W>
int report_chains(W& world, std::span<const Chain<W>> chains, std::vector<Contestant> contestants) {
    for (std::size_t i = 0; i < chains.size(); ++i)
        for (std::size_t rank = chains[i].first_rank(); rank < static_cast<std::size_t>(world.size()); ++rank)
            contestants.push_back({chains[i].of_rank(contestants[i].row, rank), {}});
    return report(world, std::span<const Contestant>(contestants));
}

/// Measures all routines beside each other, size after size; returns the program's exit code. Collective. Throws if
/// there is only one rank.
template <World W>
int sweep_routines(W& world, const RoutineOptions& options, const std::string& implementation,
                   const std::function<std::vector<Routine>(std::size_t bytes)>& routines) {
    if (world.size() < 2) throw std::runtime_error("a chain needs two ranks or more; start the program with -n 4");
    int code = measure::success;
    for (const std::size_t bytes : options.sizes()) {
        Messages messages(world.rank(), bytes);
        std::vector<Chain<W>> chains;
        for (const Routine& each : routines(bytes)) chains.emplace_back(world, each, messages, options.calls);
        std::vector<Contestant> contestants;
        for (Chain<W>& chain : chains)
            contestants.push_back({chain.of_all(implementation), [&chain] { return chain.take(); }});
        take_turns(world, std::span(contestants), options.rounds());
        code = std::max(code, report_chains(world, std::span<const Chain<W>>(chains), std::move(contestants)));
    }
    return code;
}

} // namespace kumiki::bench
