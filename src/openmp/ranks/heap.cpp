#include "openmp/ranks/heap.hpp"

#include <cstring>

namespace kumiki::openmp {

using dsm::BlockSupply;

void* Heap::allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t extra = alignment > smallest ? alignment : 0;
    if (bytes > PTRDIFF_MAX - extra) return nullptr;
    const std::uint32_t kind = BlockSupply::kind_of(bytes + extra);
    if (kind >= BlockSupply::kinds) return nullptr;
    const auto block = blocks_.take(kind);
    if (!block) return nullptr;
    std::byte* memory = block->begin + sizeof(Header);
    if (extra != 0) memory += (alignment - reinterpret_cast<std::uintptr_t>(memory) % alignment) % alignment;
    header(memory) = {kind, static_cast<std::uint32_t>(memory - block->begin - sizeof(Header)), bytes};
    return memory;
}

void* Heap::allocate_zeros(std::size_t bytes) {
    const std::uint32_t kind = BlockSupply::kind_of(bytes);
    if (bytes > PTRDIFF_MAX || kind >= BlockSupply::kinds) return nullptr;
    const auto block = blocks_.take(kind);
    if (!block) return nullptr;
    std::byte* const memory = block->begin + sizeof(Header);
    header(memory) = {kind, 0, bytes};
    if (!block->fresh) std::memset(memory, 0, bytes);
    return memory;
}

void Heap::release(void* memory) {
    const Header old = header(memory);
    auto* const block = static_cast<std::byte*>(memory) - old.shift - sizeof(Header);
    blocks_.give(old.kind, block);
}

std::size_t Heap::length(const void* memory) const {
    const Header& old = static_cast<const Header*>(memory)[-1];
    return BlockSupply::length_of(old.kind) - old.shift;
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
