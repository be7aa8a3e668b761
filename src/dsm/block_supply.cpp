#include "dsm/block_supply.hpp"

#include <algorithm>
#include <bit>

#include "platform/memory.hpp"

namespace kumiki::dsm {
namespace {

// Lengths are multiples of 16 up to 1 KiB, and from there on four for each power of two.
constexpr std::size_t small = 1024, small_kinds = small / BlockSupply::smallest;

} // namespace

std::uint32_t BlockSupply::kind_of(std::size_t bytes) {
    if (bytes <= small) return static_cast<std::uint32_t>(std::max<std::size_t>((bytes + smallest - 1) / smallest, 1));
    const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1; // 2^power < bytes <= 2^(power + 1)
    const std::size_t quarter = (bytes - 1) >> (power - 2) & 3;
    return static_cast<std::uint32_t>(small_kinds + (power - 10) * 4 + quarter + 1);
}

std::size_t BlockSupply::length_of(std::uint32_t kind) {
    if (kind <= small_kinds) return kind * smallest;
    const std::size_t number = kind - small_kinds - 1, power = number / 4 + 10, quarter = number % 4;
    return (std::size_t{5} + quarter) << (power - 2);
}

std::optional<BlockSupply::Block> BlockSupply::take(std::uint32_t kind) {
    const std::size_t bytes = before_ + length_of(kind);
    const std::lock_guard lock(mutex_);
    if (auto& free = free_[kind]; !free.empty()) {
        std::byte* const begin = free.back();
        free.pop_back();
        return Block{begin, false};
    }
    // Longer blocks begin on pages of their own, so that ranks do not share them needlessly.
    const std::size_t page = platform::page_size();
    const auto at = reinterpret_cast<std::uintptr_t>(next_);
    std::byte* const begin = bytes < 8 * page ? next_ : next_ + (platform::round_up(at, page) - at);
    if (begin > end_ || static_cast<std::size_t>(end_ - begin) < bytes) return std::nullopt;
    next_ = begin + bytes;
    return Block{begin, true};
}

void BlockSupply::give(std::uint32_t kind, std::byte* begin) {
    const std::lock_guard lock(mutex_);
    free_[kind].push_back(begin);
}

} // namespace kumiki::dsm
