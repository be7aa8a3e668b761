#include "dsm/distributed_homes.hpp"

#include "platform/memory.hpp"

namespace kumiki::dsm {

void append_home(std::vector<HomeRun>& runs, std::size_t page, int rank) {
    if (!runs.empty() && runs.back().rank == rank && runs.back().first + runs.back().count == page) ++runs.back().count;
    else runs.push_back({page, 1, rank});
}

void append_homes(std::vector<HomeRun>& runs, const Distribution& distribution, const Distributed& where,
                  std::size_t page_bytes, int ranks) {
    const bool by_touch = distribution.kind == Distribution::Kind::first;
    for (std::size_t at = platform::round_up(where.begin, page_bytes); at + page_bytes <= where.end; at += page_bytes)
        append_home(runs, at / page_bytes,
                    by_touch ? KUMIKI_HOME_OPEN : distribution.owner(at - where.begin, where.bytes, ranks));
}

} // namespace kumiki::dsm
