// The common part of collectives with pieces of different lengths.
#include <cstring>
#include <fmt/format.h>

#include "collective/collectives.hpp"

namespace kumiki::collective {

Collectives::Pieces Collectives::Pieces::equal(std::size_t bytes) {
    return {[bytes](int) { return bytes; }, [bytes](int rank) { return static_cast<std::size_t>(rank) * bytes; }, true};
}

bool Collectives::moves_something(const Pieces& pieces) const {
    for (int rank = 0; rank < group_.size(); ++rank)
        if (pieces.bytes(rank) > 0) return true;
    return false;
}

Result<> Collectives::no_such_root(const char* operation, int root) const {
    return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("{}: there is no rank {}; {} has ranks 0 to {}", operation, root,
                                                   group_.what(), group_.size() - 1));
}

Result<> Collectives::check_pieces(Kind kind, const void* own, std::size_t bytes, const void* whole,
                                   const Pieces& at_root, int root) const {
    if (!group_.has_rank(root)) return no_such_root(name(kind), root);
    if ((own == nullptr && bytes > 0) || (group_.rank() == root && whole == nullptr && moves_something(at_root)))
        return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("{}: the address of the input or output is null", name(kind)));
    return {};
}

Failure Collectives::sizes_differ_elsewhere(Kind kind) {
    return {KUMIKI_ERROR_ARGUMENT,
            fmt::format("{}: the sizes sent differ from those that another rank expects; its message names them",
                        name(kind))};
}

/// The root knows the length of each rank's piece, and each rank knows that of its own: the root publishes its table,
/// and each rank compares. If all lengths are equal, they travel with the announcement.
Result<Collectives::Pieces> Collectives::agree_on_pieces(Kind kind, const Pieces& at_root, std::size_t own, int root) {
    const auto at = static_cast<std::uint32_t>(root);
    if (at_root.are_equal) {
        if (auto same = announce({static_cast<std::uint32_t>(kind), at, own}, {}); !same)
            return tl::unexpected(same.error());
        return Pieces::equal(own);
    }
    if (auto same = announce({static_cast<std::uint32_t>(kind), at, Board::nowhere}, {}); !same)
        return tl::unexpected(same.error());
    auto table = std::make_shared<std::vector<std::uint64_t>>(static_cast<std::size_t>(group_.size()));
    if (group_.rank() == root)
        for (int rank = 0; rank < group_.size(); ++rank) (*table)[static_cast<std::size_t>(rank)] = at_root.bytes(rank);
    broadcast_inside(std::as_writable_bytes(std::span(*table)), root);
    const auto expected = (*table)[static_cast<std::size_t>(group_.rank())];
    std::uint64_t differs = expected == own ? 0 : 1;
    if (auto met = largest({&differs, 1}); !met) return tl::unexpected(met.error());
    if (expected != own)
        return fail(KUMIKI_ERROR_ARGUMENT, kind == Kind::gather
                                               ? fmt::format("gather: {} sends {} bytes to rank {}, which expects {}",
                                                             group_.describe(group_.rank()), own, root, expected)
                                               : fmt::format("scatter: rank {} sends {} bytes to {}, which expects {}",
                                                             root, expected, group_.describe(group_.rank()), own));
    if (differs != 0) return tl::unexpected(sizes_differ_elsewhere(kind));
    return Pieces{[table](int rank) { return (*table)[static_cast<std::size_t>(rank)]; }, {}};
}

std::size_t Collectives::bytes_of_all(const Pieces& pieces) const {
    std::size_t bytes = 0;
    for (int rank = 0; rank < group_.size(); ++rank) bytes += pieces.bytes(rank);
    return bytes;
}

/// A hash of the lengths, by which calls are compared.
std::uint32_t Collectives::table_of(const Pieces& pieces) const {
    std::uint32_t table = 2166136261;
    for (int rank = 0; rank < group_.size(); ++rank) {
        const std::size_t bytes = pieces.bytes(rank);
        table = (table ^ static_cast<std::uint32_t>(bytes ^ bytes >> 32)) * 16777619;
    }
    return table;
}

std::size_t Collectives::bytes_of_host(int host, const Pieces& pieces) const {
    std::size_t bytes = 0;
    for (int rank = 0; rank < group_.size(); ++rank)
        if (group_.host_of(rank) == host) bytes += pieces.bytes(rank);
    return bytes;
}

std::vector<std::byte> Collectives::pack_for_host(int host, const std::byte* from, const Pieces& pieces) const {
    std::vector<std::byte> block;
    block.reserve(bytes_of_host(host, pieces));
    for (int rank = 0; rank < group_.size(); ++rank)
        if (group_.host_of(rank) == host)
            block.insert(block.end(), from + pieces.offset(rank), from + pieces.offset(rank) + pieces.bytes(rank));
    return block;
}

void Collectives::unpack_from_host(int host, std::span<const std::byte> block, std::byte* into,
                                   const Pieces& pieces) const {
    for (int rank = 0; rank < group_.size(); ++rank)
        if (const std::size_t bytes = pieces.bytes(rank); group_.host_of(rank) == host && bytes > 0) {
            std::memcpy(into + pieces.offset(rank), block.data(), bytes);
            block = block.subspan(bytes);
        }
}

std::vector<std::size_t> Collectives::begins_on_host(const Pieces& pieces) const {
    std::vector<std::size_t> begins(1);
    for (int local = 0; local < group_.host_size(); ++local)
        begins.push_back(begins.back() + pieces.bytes(group_.number_on_host(local)));
    return begins;
}

void Collectives::deal_block(std::span<const std::byte> block, int root, const Pieces& pieces, std::byte* into) {
    const auto begins = begins_on_host(pieces);
    deal(
        root, [&](int local) { return pieces.bytes(group_.number_on_host(local)); },
        [&](int local) { return block.data() + begins[static_cast<std::size_t>(local)]; }, into);
}

} // namespace kumiki::collective
