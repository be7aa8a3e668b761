#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace kumiki::dsm {

/// Blocks of one piece of memory, for allocators. Blocks have certain lengths, their kinds, and are neither split nor
/// merged: a block that has been given back is for the next one of its kind.
///
/// What is free is known in private memory only, and no byte of the blocks is touched here. So no thread touches memory
/// of the program while it holds a lock, and pages of free blocks need not be present.
class BlockSupply {
public:
    static constexpr std::size_t smallest = 16;
    static constexpr std::uint32_t kinds = 256;

    /// `before`: how many bytes, of a multiple of `smallest`, a block has besides the length of its kind.
    explicit BlockSupply(std::span<std::byte> memory, std::size_t before = 0)
        : before_(before), next_(memory.data()), end_(next_ + memory.size()) {}

    /// The kind of the shortest blocks with so many bytes; `kinds` or more: none is so long.
    static std::uint32_t kind_of(std::size_t bytes);
    static std::size_t length_of(std::uint32_t kind);

    struct Block {
        std::byte* begin;
        bool fresh; ///< nobody has had it before
    };
    /// Nothing if there is no memory left.
    std::optional<Block> take(std::uint32_t kind);
    void give(std::uint32_t kind, std::byte* begin);

private:
    std::size_t before_;
    std::mutex mutex_; ///< guards the rest
    std::byte *next_, *end_;
    std::array<std::vector<std::byte*>, kinds> free_;
};

} // namespace kumiki::dsm
