#include "dsm/notice_exchange.hpp"

#include <algorithm>
#include <array>

namespace kumiki::dsm {

using collective::Collectives;

Result<std::vector<std::vector<Notice>>> exchange_notices(const fabric::Fabric& fabric, Collectives& collectives,
                                                          std::span<const Notice> own) {
    struct Summary {
        std::uint64_t count;
        std::array<Notice, 2> few;
    };
    const auto ranks = static_cast<std::size_t>(fabric.size());
    const auto here = static_cast<std::size_t>(fabric.rank());
    Summary mine{own.size(), {}};
    std::copy_n(own.begin(), std::min(own.size(), mine.few.size()), mine.few.begin());
    std::vector<Summary> summaries(ranks);
    if (auto met =
            collectives.all_gather(&mine, sizeof mine, summaries.data(), Collectives::Pieces::equal(sizeof mine));
        !met)
        return tl::unexpected(met.error());
    std::vector<std::size_t> begins(ranks + 1); // of each rank's notices that did not travel with their number
    const auto rest = [&](std::size_t rank) {
        return summaries[rank].count - std::min<std::size_t>(summaries[rank].count, mine.few.size());
    };
    for (std::size_t rank = 0; rank < ranks; ++rank) begins[rank + 1] = begins[rank] + rest(rank);
    std::vector<Notice> others(begins[ranks]);
    if (!others.empty()) {
        Collectives::Pieces pieces;
        pieces.bytes = [&](int rank) { return rest(static_cast<std::size_t>(rank)) * sizeof(Notice); };
        pieces.offset = [&](int rank) { return begins[static_cast<std::size_t>(rank)] * sizeof(Notice); };
        const Notice* const more = own.data() + (own.size() - rest(here));
        if (auto met = collectives.all_gather(more, rest(here) * sizeof(Notice), others.data(), pieces); !met)
            return tl::unexpected(met.error());
    }
    std::vector<std::vector<Notice>> told(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto few = summaries[rank].few.begin();
        told[rank].assign(few, few + static_cast<std::ptrdiff_t>(summaries[rank].count - rest(rank)));
        told[rank].insert(told[rank].end(), others.begin() + static_cast<std::ptrdiff_t>(begins[rank]),
                          others.begin() + static_cast<std::ptrdiff_t>(begins[rank + 1]));
    }
    return told;
}

} // namespace kumiki::dsm
