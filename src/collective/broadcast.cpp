#include <algorithm>
#include <cstring>

#include "collective/collectives.hpp"

namespace kumiki::collective {

Result<> Collectives::broadcast(void* data, std::size_t bytes, int root) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    if (!group_.has_rank(root)) return refuse_inside(no_such_root("broadcast", root));
    if (data == nullptr && bytes > 0)
        return refuse_inside(fail(KUMIKI_ERROR_ARGUMENT, "broadcast: the address is null"));
    const std::span all(static_cast<std::byte*>(data), bytes);
    const bool from_here = group_.rank() == root;
    const auto chunk = [&](std::size_t begin) { return all.subspan(begin, std::min(Board::capacity, bytes - begin)); };

    // The first chunk travels with the announcement. Longer data in a region need not go over the board at all.
    const bool in_place = from_here && bytes > Board::capacity && fabric_.memory().in_region(data, bytes);
    const CollectiveCall call{static_cast<std::uint32_t>(Kind::broadcast), static_cast<std::uint32_t>(root), bytes};
    if (!one_host()) {
        if (auto same = announce(call, {}); !same) return same;
        broadcast_inside(all, root);
        return {};
    }
    const auto first = from_here && !in_place ? std::span<const std::byte>(chunk(0)) : std::span<const std::byte>{};
    if (auto same = announce(call, first, in_place ? fabric_.memory().offset(data) : Board::nowhere); !same)
        return same;

    if (const std::uint64_t offset = notice(root).offset; offset != Board::nowhere) {
        if (!from_here) fabric_.memory().copy(data, group_.arena(root) + offset, bytes);
        barrier_.meet_host(); // the root may change its data when all ranks have them
        return {};
    }
    for (std::size_t begin = 0; begin < bytes; begin += Board::capacity) {
        if (begin > 0) publish(from_here ? std::span<const std::byte>(chunk(begin)) : std::span<const std::byte>{});
        if (!from_here) std::memcpy(chunk(begin).data(), published(root), chunk(begin).size());
    }
    return {};
}

} // namespace kumiki::collective
