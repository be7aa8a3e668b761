#include "launch/command/placement.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>

#include "platform/thread.hpp"
#include "topology/ranges.hpp"

namespace kumiki::launch {
namespace {

using topology::Core;
using topology::Domain;

std::size_t sum(const std::vector<std::size_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

/// The first core of each rank, chosen so that no rank crosses the border of a domain; nothing if there are too few
/// cores for that. `sizes` are the numbers of threads.
std::optional<std::vector<std::size_t>> within(Domain domain, const std::vector<Core>& cores,
                                               const std::vector<std::size_t>& sizes) {
    std::vector<std::size_t> firsts;
    std::size_t first = 0;
    while (firsts.size() < sizes.size()) {
        const std::size_t threads = sizes[firsts.size()];
        if (first + threads > cores.size()) return {};
        if (cores[first].in(domain) == cores[first + threads - 1].in(domain)) {
            firsts.push_back(first);
            first += threads;
        } else ++first;
    }
    return firsts;
}

std::vector<std::size_t> first_cores(const std::vector<Core>& cores, const std::vector<std::size_t>& sizes) {
    for (const Domain domain : topology::domains)
        if (auto firsts = within(domain, cores, sizes)) return *firsts;
    std::vector<std::size_t> firsts(sizes.size());
    std::exclusive_scan(sizes.begin(), sizes.end(), firsts.begin(), std::size_t{0});
    return firsts;
}

/// Confines the rank to the core, and binds its next thread to the core's first processor.
void add_thread(RankPlace& place, const Core& core) {
    place.threads.push_back(core.processors.front());
    if (std::ranges::find(place.processors, core.processors.front()) == place.processors.end())
        place.processors.insert(place.processors.end(), core.processors.begin(), core.processors.end());
}

/// Places on `cores` the ranks that do not request particular cores.
void place_freely(std::vector<RankPlace*> ranks, const std::vector<Core>& cores) {
    std::vector<std::size_t> sizes;
    for (const RankPlace* rank : ranks) sizes.push_back(static_cast<std::size_t>(rank->size));
    const std::size_t all = sum(sizes);
    if (all <= cores.size()) {
        const auto firsts = first_cores(cores, sizes);
        for (std::size_t rank = 0; rank < ranks.size(); ++rank)
            for (std::size_t thread = 0; thread < sizes[rank]; ++thread)
                add_thread(*ranks[rank], cores[firsts[rank] + thread]);
        return;
    }
    std::size_t next = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
        for (std::size_t thread = 0; thread < sizes[rank]; ++thread)
            add_thread(*ranks[rank], cores[platform::shared_place(next++, all, cores.size())]);
}

/// Places a rank on the cores that it requests. Its threads are bound unless there are too many of them.
void place_on(RankPlace& rank, const std::vector<Core>& cores, Binding bind) {
    const auto size = static_cast<std::size_t>(rank.size);
    const bool fits = size <= cores.size();
    if (bind == Binding::shared || (bind == Binding::core && fits))
        for (std::size_t thread = 0; thread < size; ++thread)
            rank.threads.push_back(
                cores[fits ? thread : platform::shared_place(thread, size, cores.size())].processors.front());
    for (const Core& core : cores)
        rank.processors.insert(rank.processors.end(), core.processors.begin(), core.processors.end());
}

/// The cores that are requested for ranks, by their numbers.
class AskedCores {
public:
    /// Fails if a core does not exist, or if two ranks request the same core and may not share it.
    static Result<AskedCores> of(const topology::UsableCores& usable, const std::vector<RankRequest>& ranks,
                                 bool may_share) {
        AskedCores asked;
        for (const RankRequest& rank : ranks) {
            if (auto exist = topology::restrict(usable, rank.cores); !exist)
                return fail(exist.error().status, fmt::format("rank {}: {}", rank.rank, exist.error().message));
            for (const int number : rank.cores) {
                const auto [other, is_new] = asked.by_.try_emplace(number, rank.rank);
                asked.shared_ = asked.shared_ || !is_new;
                if (!is_new && !may_share)
                    return fail(KUMIKI_ERROR_ARGUMENT,
                                fmt::format("ranks {} and {} both ask for core {}; give each rank cores of its own, or "
                                            "let them share it with --bind shared",
                                            other->second, rank.rank, number));
            }
        }
        return asked;
    }
    bool has(int number) const { return by_.contains(number); }
    /// Whether ranks share a core.
    bool shared() const { return shared_; }

private:
    std::map<int, int> by_; ///< core -> the first rank that requests it
    bool shared_ = false;
};

std::vector<Core> cores_with(const std::vector<Core>& cores, const std::vector<int>& numbers) {
    std::vector<Core> found;
    for (const int number : numbers) found.push_back(*std::ranges::find(cores, number, &Core::number));
    return found;
}

std::string sizes_of(const Placement& placement) {
    const auto same = [&](const RankPlace& rank) { return rank.size == placement.ranks.front().size; };
    if (std::ranges::all_of(placement.ranks, same)) return std::to_string(placement.ranks.front().size);
    return fmt::format("{}", fmt::join(placement.ranks | std::views::transform(&RankPlace::size), ","));
}

} // namespace

void decide_threads(std::vector<RankRequest>& ranks, int budget) {
    int parts = 0;
    for (RankRequest& rank : ranks) {
        if (rank.threads == 0) rank.threads = static_cast<int>(rank.cores.size());
        budget -= rank.threads;
        parts += rank.threads == 0;
    }
    for (RankRequest& rank : ranks)
        if (rank.threads == 0) rank.threads = std::max(1, budget / parts);
}

std::vector<int> threads_of(const std::vector<RankRequest>& ranks) {
    std::vector<int> threads;
    for (const RankRequest& rank : ranks) threads.push_back(rank.threads);
    return threads;
}

Result<Placement> place(const topology::UsableCores& usable, const std::vector<RankRequest>& ranks, Binding bind) {
    const auto asked = AskedCores::of(usable, ranks, bind == Binding::shared);
    if (!asked) return tl::unexpected(asked.error());
    Placement placement;
    placement.sharing = static_cast<int>(ranks.size());
    placement.budget = usable.budget;
    placement.this_machine = usable.this_machine;
    for (const RankRequest& rank : ranks) placement.ranks.push_back({rank.rank, rank.threads, {}, {}});
    std::vector<RankPlace*> others;
    std::size_t all = 0, of_others = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const auto size = static_cast<std::size_t>(ranks[i].threads);
        all += size;
        if (ranks[i].cores.empty()) {
            others.push_back(&placement.ranks[i]);
            of_others += size;
        } else place_on(placement.ranks[i], cores_with(usable.cores, ranks[i].cores), bind);
        placement.crowded = placement.crowded || (!ranks[i].cores.empty() && size > ranks[i].cores.size());
    }
    auto rest = usable.cores;
    std::erase_if(rest, [&](const Core& core) { return asked->has(core.number); });
    const bool fits = of_others <= rest.size() && all <= static_cast<std::size_t>(usable.budget);
    placement.crowded = placement.crowded || asked->shared() || !fits;
    if (bind == Binding::shared || (bind == Binding::core && fits))
        place_freely(others, rest.empty() ? usable.cores : rest);
    return placement;
}

Placement part(Placement placement, int first, int count) {
    const auto begin = placement.ranks.begin() + first;
    placement.ranks = {begin, begin + count};
    return placement;
}

std::vector<std::string> describe(const Placement& placement) {
    const bool bound = std::ranges::any_of(placement.ranks, [](const auto& rank) { return !rank.threads.empty(); });
    const char* how = placement.crowded ? bound ? "more threads than cores; threads share cores, and waiting threads "
                                                  "give way"
                                                : "more threads than cores; nothing is bound, and waiting threads give "
                                                  "way"
                      : bound           ? "each thread has a core of its own"
                                        : "nothing is bound";
    const int ranks = static_cast<int>(placement.ranks.size());
    const auto sharing = placement.sharing > ranks
                             ? fmt::format(", which {} ranks of other hosts share", placement.sharing - ranks)
                             : "";
    std::vector<std::string> sentences = {fmt::format("{} x {} (ranks x threads) on {} usable core{}{}: {}", ranks,
                                                      sizes_of(placement), placement.budget,
                                                      placement.budget == 1 ? "" : "s", sharing, how)};
    for (const RankPlace& rank : placement.ranks) {
        auto processors = rank.processors;
        std::ranges::sort(processors);
        if (!processors.empty())
            sentences.push_back(fmt::format("rank {}: threads on processors {}; may use {}", rank.rank,
                                            rank.threads.empty() ? topology::as_ranges(processors)
                                                                 : fmt::format("{}", fmt::join(rank.threads, ",")),
                                            topology::as_ranges(processors)));
        if (!rank.devices.empty())
            sentences.push_back(fmt::format("rank {}: device{} {}", rank.rank, rank.devices.size() == 1 ? "" : "s",
                                            topology::as_ranges(rank.devices)));
    }
    return sentences;
}

} // namespace kumiki::launch
