#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kumiki::dsm {

/// What a rank tells others about a run of pages of one array.
struct Notice {
    enum class Kind : std::uint16_t {
        changed,    ///< a write notice: the rank has changed the pages
        everything, ///< all pages of all arrays may have changed: from a rank that no longer knows which ones
        // Only at barriers:
        touched,      ///< the rank has touched pages whose homes are open, and has an up-to-date copy
        touched_once, ///< the same, but it has dropped its copy since
        wanted,       ///< the rank has changed them, as nobody else has for some time, and wants to be their home
    };

    std::uint16_t array;
    Kind kind;
    std::uint32_t count;
    std::uint64_t first;
    friend bool operator==(const Notice&, const Notice&) = default;

    bool covers(std::uint32_t of_array, std::uint64_t page) const {
        return kind == Kind::changed && array == of_array && page >= first && page - first < count;
    }
    static constexpr Notice everything() { return {0, Kind::everything, 0, 0}; }
};

/// What a rank tells all others at a barrier.
struct Released {
    std::vector<Notice> notices;
    std::vector<std::byte> changes; ///< of pages that stay where there are copies (Pages::take_changes)
    std::span<const std::byte> message;
};

/// A notice as ranks pass it on at locks. Each rank numbers its own notices, from 1 on; and so it does those of words
/// that it has changed for others (Locks::change_word), as another writer.
struct Told {
    Notice notice;
    std::uint64_t number;
    std::uint32_t writer, spare = 0;

    static std::size_t writers(std::size_t ranks) { return 2 * ranks; }
    static std::uint32_t writer_for_others(std::size_t rank, std::size_t ranks) {
        return static_cast<std::uint32_t>(ranks + rank);
    }
};

} // namespace kumiki::dsm
