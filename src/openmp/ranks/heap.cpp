#include "openmp/ranks/heap.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "platform/memory.hpp"

namespace kumiki::openmp {
namespace {

// Lengths are multiples of 16 up to 1 KiB, and from there on four for each power of two.
constexpr std::size_t small = 1024, small_kinds = small / Heap::smallest;

} // namespace

std::uint32_t Heap::kind_of(std::size_t bytes) {
    if (bytes <= small) return static_cast<std::uint32_t>(std::max<std::size_t>((bytes + smallest - 1) / smallest, 1));
    const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1; // 2^power < bytes <= 2^(power + 1)
    const std::size_t quarter = (bytes - 1) >> (power - 2) & 3;
    return static_cast<std::uint32_t>(small_kinds + (power - 10) * 4 + quarter + 1);
}

std::size_t Heap::length_of(std::uint32_t kind) {
    if (kind <= small_kinds) return kind * smallest;
    const std::size_t number = kind - small_kinds - 1, power = number / 4 + 10, quarter = number % 4;
    return (std::size_t{5} + quarter) << (power - 2);
}

/// The beginning of a block; `fresh` tells whether nobody has used it before.
std::byte* Heap::take(std::uint32_t kind, bool& fresh) {
    const std::size_t bytes = sizeof(Header) + length_of(kind);
    const std::lock_guard lock(mutex_);
    fresh = free_[kind].empty();
    if (!fresh) {
        std::byte* const block = free_[kind].back();
        free_[kind].pop_back();
        return block;
    }
    // Longer blocks begin on pages of their own, so that ranks do not share them needlessly.
    const std::size_t page = platform::page_size();
    const auto at = reinterpret_cast<std::uintptr_t>(next_);
    std::byte* const block = bytes < 8 * page ? next_ : next_ + ((at + page - 1) / page * page - at);
    if (block > end_ || static_cast<std::size_t>(end_ - block) < bytes) return nullptr;
    next_ = block + bytes;
    return block;
}

void* Heap::allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t extra = alignment > smallest ? alignment : 0;
    if (bytes > PTRDIFF_MAX - extra) return nullptr;
    const std::uint32_t kind = kind_of(bytes + extra);
    if (kind >= kinds) return nullptr;
    bool fresh = false;
    std::byte* const block = take(kind, fresh);
    if (block == nullptr) return nullptr;
    std::byte* memory = block + sizeof(Header);
    if (extra != 0) memory += (alignment - reinterpret_cast<std::uintptr_t>(memory) % alignment) % alignment;
    header(memory) = {kind, static_cast<std::uint32_t>(memory - block - sizeof(Header)), bytes};
    return memory;
}

void* Heap::allocate_zeros(std::size_t bytes) {
    const std::uint32_t kind = kind_of(bytes);
    if (bytes > PTRDIFF_MAX || kind >= kinds) return nullptr;
    bool fresh = false;
    std::byte* const block = take(kind, fresh);
    if (block == nullptr) return nullptr;
    std::byte* const memory = block + sizeof(Header);
    header(memory) = {kind, 0, bytes};
    if (!fresh) std::memset(memory, 0, bytes);
    return memory;
}

void Heap::release(void* memory) {
    const Header old = header(memory);
    auto* const block = static_cast<std::byte*>(memory) - old.shift - sizeof(Header);
    const std::lock_guard lock(mutex_);
    free_[old.kind].push_back(block);
}

std::size_t Heap::length(const void* memory) const {
    const Header& old = static_cast<const Header*>(memory)[-1];
    return length_of(old.kind) - old.shift;
}

void* Heap::resize(void* memory, std::size_t bytes) {
    if (bytes <= length(memory)) {
        header(memory).bytes = bytes;
        return memory;
    }
    void* const longer = allocate(bytes);
    if (longer == nullptr) return nullptr;
    std::memcpy(longer, memory, header(memory).bytes);
    release(memory);
    return longer;
}

} // namespace kumiki::openmp
