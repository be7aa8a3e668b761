#include "launch/command/placement.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include "topology/ranges.hpp"

namespace kumiki::launch {
namespace {

using topology::Core;
using topology::Domain;

/// The first core of each rank, chosen so that no rank crosses the border of a domain; nothing when there are too few
/// cores for that.
std::optional<std::vector<std::size_t>> within(Domain domain, const std::vector<Core>& cores, std::size_t ranks,
                                               std::size_t threads) {
    std::vector<std::size_t> firsts;
    std::size_t first = 0;
    while (firsts.size() < ranks) {
        if (first + threads > cores.size()) return {};
        if (cores[first].in(domain) == cores[first + threads - 1].in(domain)) {
            firsts.push_back(first);
            first += threads;
        } else ++first;
    }
    return firsts;
}

std::vector<std::size_t> first_cores(const std::vector<Core>& cores, std::size_t ranks, std::size_t threads) {
    for (const Domain domain : topology::domains)
        if (auto firsts = within(domain, cores, ranks, threads)) return *firsts;
    std::vector<std::size_t> firsts(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) firsts[rank] = rank * threads;
    return firsts;
}

} // namespace

int default_threads(const topology::UsableCores& usable, int ranks) { return std::max(1, usable.budget / ranks); }

Placement place(const topology::UsableCores& usable, int ranks, int threads, bool bind) {
    const auto rank_count = static_cast<std::size_t>(ranks), thread_count = static_cast<std::size_t>(threads);
    Placement placement;
    placement.ranks.resize(rank_count);
    placement.sharing = ranks;
    placement.budget = usable.budget;
    placement.this_machine = usable.this_machine;
    placement.crowded = rank_count * thread_count > static_cast<std::size_t>(usable.budget);
    placement.bound = bind && !placement.crowded;
    if (!placement.bound) return placement;
    const auto firsts = first_cores(usable.cores, rank_count, thread_count);
    for (std::size_t rank = 0; rank < rank_count; ++rank)
        for (std::size_t thread = 0; thread < thread_count; ++thread) {
            const Core& core = usable.cores[firsts[rank] + thread];
            RankPlace& own = placement.ranks[rank];
            own.threads.push_back(core.processors.front());
            own.processors.insert(own.processors.end(), core.processors.begin(), core.processors.end());
        }
    return placement;
}

Placement part(Placement placement, int first, int count) {
    const auto begin = placement.ranks.begin() + first;
    placement.ranks = {begin, begin + count};
    return placement;
}

std::vector<std::string> describe(const Placement& placement, int threads, int first_rank) {
    const char* how = placement.crowded ? "more threads than cores; nothing is bound, and waiting threads give way"
                      : placement.bound ? "each thread has a core of its own"
                                        : "nothing is bound";
    const int ranks = static_cast<int>(placement.ranks.size());
    const auto sharing = placement.sharing > ranks
                             ? fmt::format(", which {} ranks of other hosts share", placement.sharing - ranks)
                             : "";
    std::vector<std::string> sentences = {fmt::format("{} x {} (ranks x threads) on {} usable core{}{}: {}", ranks,
                                                      threads, placement.budget, placement.budget == 1 ? "" : "s",
                                                      sharing, how)};
    if (!placement.bound) return sentences;
    for (std::size_t rank = 0; rank < placement.ranks.size(); ++rank) {
        auto processors = placement.ranks[rank].processors;
        std::ranges::sort(processors);
        sentences.push_back(
            fmt::format("rank {}: threads on processors {}; may use {}", static_cast<int>(rank) + first_rank,
                        fmt::join(placement.ranks[rank].threads, ","), topology::as_ranges(processors)));
    }
    return sentences;
}

} // namespace kumiki::launch
