#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace kumiki::dsm {

/// Pages one after the other.
struct PageRun {
    std::uint64_t first, count;
};

/// Precedes the difference, the contents, or gathered changes of words (PlacedChange), of each page in a message with
/// several pages of one array.
struct PackedPage {
    std::uint64_t page, bytes;
    std::uint64_t has_gathered = 0; ///< 1: changes of words, which only messages with differences may have
};

/// Returns where it is.
inline std::size_t append_head(std::vector<std::byte>& packed, const PackedPage& head) {
    const std::size_t at = packed.size();
    packed.resize(at + sizeof head);
    std::memcpy(&packed[at], &head, sizeof head);
    return at;
}

/// Precedes the difference of each page among the changes of a barrier, which leave out the first `skipped` bytes.
struct PackedChange {
    std::uint16_t array, bytes;
    std::uint32_t skipped;
    std::uint64_t page;
};

/// Calls each(head, bytes) -> bool for the parts of a message of an array with so many pages. Returns false where it
/// returns false, and if the message does not fit the array.
template <class Each>
bool for_each_packed_page(std::span<const std::byte> packed, std::size_t pages, Each each, bool may_gather = false) {
    while (!packed.empty()) {
        PackedPage head{};
        if (packed.size() < sizeof head) return false;
        std::memcpy(&head, packed.data(), sizeof head);
        packed = packed.subspan(sizeof head);
        if (head.bytes > packed.size() || head.page >= pages || (head.has_gathered != 0 && !may_gather)) return false;
        if (!each(head, packed.first(head.bytes))) return false;
        packed = packed.subspan(head.bytes);
    }
    return true;
}

} // namespace kumiki::dsm
