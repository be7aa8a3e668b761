#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "collective/collectives.hpp"
#include "collective/combine.hpp"

namespace kumiki::collective {

using fabric::Network;

Result<> Collectives::reduce_scatter(const void* input, void* output, const Counts& counts, kumiki_type type,
                                     kumiki_operation operation) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    std::vector<std::size_t> begins(1); // in elements
    for (int rank = 0; rank < group_.size(); ++rank)
        begins.push_back(counts(rank) > SIZE_MAX - begins.back() ? SIZE_MAX : begins.back() + counts(rank));
    if (auto checked = check_reduction("reduce_scatter", input, input, begins.back(), type, operation, every_rank);
        !checked)
        return refuse_inside(checked);
    const std::size_t element = element_bytes(type), total = begins.back() * element;
    const Pieces pieces{[&](int rank) { return counts(rank) * element; },
                        [&](int rank) { return begins[static_cast<std::size_t>(rank)] * element; }};
    if (output == nullptr && counts(group_.rank()) > 0)
        return refuse_inside(fail(KUMIKI_ERROR_ARGUMENT, "reduce_scatter: the address of the output is null"));
    const auto detail = table_of(pieces) << 8 | static_cast<std::uint32_t>(type << 4 | operation);
    if (auto same = announce({static_cast<std::uint32_t>(Kind::reduce_scatter), detail, total}, {}); !same) return same;
    const auto* const from = static_cast<const std::byte*>(input);
    auto* const into = static_cast<std::byte*>(output);
    if (one_host()) reduce_scatter_here(from, into, pieces, type, operation);
    else reduce_scatter_hosts({from, total}, into, pieces, type, operation);
    return {};
}

/// In each round every rank publishes a slice of each piece, and combines all slices of its own piece.
void Collectives::reduce_scatter_here(const std::byte* from, std::byte* into, const Pieces& pieces, kumiki_type type,
                                      kumiki_operation operation) {
    const std::size_t element = element_bytes(type);
    const auto ranks = static_cast<std::size_t>(group_.size());
    const std::size_t slice = Board::capacity / ranks / element * element;
    std::size_t longest = 0;
    for (int rank = 0; rank < group_.size(); ++rank) longest = std::max(longest, pieces.bytes(rank));
    const auto at = [slice](std::byte* board, int rank) { return board + static_cast<std::size_t>(rank) * slice; };
    for (std::size_t begin = 0; begin < longest; begin += slice) {
        const auto part = [&](int rank) {
            return std::min(slice, pieces.bytes(rank) - std::min(begin, pieces.bytes(rank)));
        };
        turn_ ^= 1;
        for (int rank = 0; rank < group_.size(); ++rank)
            if (part(rank) > 0)
                std::memcpy(at(published(group_.rank()), rank), from + pieces.offset(rank) + begin, part(rank));
        barrier_.meet_host();
        const std::size_t bytes = part(group_.rank());
        if (bytes == 0) continue;
        std::memcpy(into + begin, at(published(0), group_.rank()), bytes);
        for (int other = 1; other < group_.size(); ++other)
            combine(into + begin, at(published(other), group_.rank()), bytes / element, type, operation);
    }
}

/// The ranks of each host combine all pieces; then the leaders exchange the pieces that each other's ranks get, and
/// distribute them.
void Collectives::reduce_scatter_hosts(std::span<const std::byte> input, std::byte* into, const Pieces& pieces,
                                       kumiki_type type, kumiki_operation operation) {
    Network& network = *fabric_.network();
    const std::size_t element = element_bytes(type), chunk = whole_elements(element);
    std::vector<std::byte> sum(group_.leads() ? input.size() : 0);
    for (std::size_t begin = 0; begin < input.size(); begin += chunk) {
        const std::size_t length = std::min(chunk, input.size() - begin);
        publish(input.subspan(begin, length));
        reduce_chunk(group_.leads() ? sum.data() + begin : nullptr, length / element, type, operation, group_.leads());
    }
    ++tag_;
    std::vector<std::byte> block; // for the ranks of this host, in the order of their numbers
    if (group_.leads()) {
        const int count = group_.hosts(), me = group_.own_host();
        for (int step = 1; step < count; ++step) {
            const int host = (me + step) % count;
            static_cast<void>(
                network.send_in_collective(group_, group_.leader(host), tag_, pack_for_host(host, sum.data(), pieces)));
        }
        const auto own = pack_for_host(me, sum.data(), pieces);
        std::vector<std::byte> theirs(own.size());
        for (int host = 0; host < count; ++host) {
            if (host != me) network.receive_in_collective(group_, group_.leader(host), tag_, theirs);
            const auto& next = host == me ? own : theirs;
            if (host == 0) block = next;
            else combine(block.data(), next.data(), own.size() / element, type, operation);
        }
    }
    deal_block(block, 0, pieces, into);
}

} // namespace kumiki::collective
