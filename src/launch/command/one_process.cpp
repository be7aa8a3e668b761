#include "launch/command/one_process.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>

namespace kumiki::launch {
namespace {

/// Appends the elements of `from` that `to` does not have.
void add_new(std::vector<int>& to, const std::vector<int>& from) {
    for (const int each : from)
        if (std::ranges::find(to, each) == to.end()) to.push_back(each);
}

/// In the grammar of OMP_PLACES: {processors}:number of places:distance from one to the next.
std::string places_of(const RankPlace& rank) {
    return fmt::format("{{{}}}:{}:0", fmt::join(rank.processors, ","), rank.size);
}

RankRequest joined(const std::vector<RankRequest>& ranks) {
    RankRequest all{.rank = ranks.front().rank, .threads = 0, .cores = {}};
    // Where one has no number of threads, the processors of the host decide, for all of them together.
    const bool decided = std::ranges::none_of(ranks, [](const RankRequest& rank) { return rank.threads == 0; });
    for (const RankRequest& rank : ranks) {
        if (decided) all.threads += rank.threads;
        add_new(all.cores, rank.cores);
        all.devices.given = all.devices.given || rank.devices.given;
        all.devices.all = all.devices.all || rank.devices.all;
        add_new(all.devices.numbers, rank.devices.numbers);
    }
    return all;
}

RankPlace joined(const std::vector<RankPlace>& ranks) {
    RankPlace all{.rank = ranks.front().rank, .size = 0, .threads = {}, .processors = {}};
    for (const RankPlace& rank : ranks) {
        all.size += rank.size;
        all.threads.insert(all.threads.end(), rank.threads.begin(), rank.threads.end());
        add_new(all.processors, rank.processors);
    }
    // A rank that may run anywhere lets the process run anywhere, and not all threads have a processor then.
    if (std::ranges::any_of(ranks, [](const RankPlace& rank) { return rank.processors.empty(); }))
        all.processors.clear();
    if (all.threads.size() != static_cast<std::size_t>(all.size)) all.threads.clear();
    return all;
}

} // namespace

void become_one_process(Share& share, Placement& placement, bool user_binds) {
    if (share.ranks == 1) return;
    RankPlace all = joined(placement.ranks);
    if (!user_binds && !all.processors.empty())
        all.variables.emplace_back(
            "OMP_PLACES", fmt::format("{}", fmt::join(placement.ranks | std::views::transform(places_of), ",")));
    placement.ranks = {std::move(all)};
    placement.sharing = 1;
    share.requests = {joined(share.requests)};
    share.ranks = share.size = 1;
}

void become_one_process_each(std::vector<Share>& shares) {
    for (int host = 0; Share& share : shares) {
        share.requests = {joined(share.requests)};
        share.requests.front().rank = share.first = host++;
        share.ranks = 1;
        share.size = static_cast<int>(shares.size());
    }
}

bool binds_openmp_threads() {
    return std::ranges::any_of(std::array{"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"},
                               [](const char* name) { return std::getenv(name) != nullptr; });
}

} // namespace kumiki::launch
