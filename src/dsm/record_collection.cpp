#include "dsm/record_collection.hpp"

#include <cstdint>
#include <vector>

namespace kumiki::dsm {

using collective::Collectives;

Result<> collect_records(const fabric::Fabric& fabric, Collectives& collectives, explain::Record* record) {
    if (record == nullptr) return {};
    record->finish();
    const std::vector<std::byte> own = record->is_elsewhere() ? record->contents() : std::vector<std::byte>{};
    const auto ranks = static_cast<std::size_t>(fabric.size());
    const std::uint64_t bytes = own.size();
    std::vector<std::uint64_t> lengths(ranks);
    if (auto met =
            collectives.all_gather(&bytes, sizeof bytes, lengths.data(), Collectives::Pieces::equal(sizeof bytes));
        !met)
        return met;
    std::vector<std::size_t> begins(ranks + 1);
    for (std::size_t rank = 0; rank < ranks; ++rank) begins[rank + 1] = begins[rank] + lengths[rank];
    if (begins[ranks] == 0) return {};
    std::vector<std::byte> all(fabric.rank() == 0 ? begins[ranks] : 0);
    Collectives::Pieces pieces;
    pieces.bytes = [&](int rank) { return lengths[static_cast<std::size_t>(rank)]; };
    pieces.offset = [&](int rank) { return begins[static_cast<std::size_t>(rank)]; };
    if (auto met = collectives.gather(own.data(), own.size(), all.data(), pieces, 0); !met) return met;
    for (std::size_t rank = 0; rank < ranks && !all.empty(); ++rank)
        if (lengths[rank] != 0)
            record->save(static_cast<int>(rank), std::span(all).subspan(begins[rank], lengths[rank]));
    return {};
}

} // namespace kumiki::dsm
