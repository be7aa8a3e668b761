#include "openmp/ranks/memory/heap.hpp"

#include <algorithm>
#include <cstring>

namespace kumiki::openmp {

using dsm::BlockSupply;

Heap::Taken Heap::take(std::size_t bytes, std::size_t alignment) {
    const std::size_t extra = alignment > smallest ? alignment : 0;
    if (bytes > PTRDIFF_MAX - extra) return {};
    const std::uint32_t kind = BlockSupply::kind_of(bytes + extra);
    if (kind >= BlockSupply::kinds) return {};
    const auto block = blocks_.take(kind);
    if (!block) return {};
    std::byte* memory = block->begin + sizeof(Header);
    if (extra != 0) memory += (alignment - reinterpret_cast<std::uintptr_t>(memory) % alignment) % alignment;
    header(memory) = {kind, static_cast<std::uint32_t>(memory - block->begin - sizeof(Header)), bytes};
    return {memory, block->fresh};
}

void* Heap::allocate(std::size_t bytes, std::size_t alignment) { return take(bytes, alignment).memory; }

void* Heap::allocate_zeros(std::size_t bytes, std::size_t alignment) {
    const auto [memory, fresh] = take(bytes, alignment);
    if (memory != nullptr && !fresh) std::memset(memory, 0, bytes);
    return memory;
}

void Heap::release(void* memory) {
    const Header old = header(memory);
    auto* const block = static_cast<std::byte*>(memory) - old.shift - sizeof(Header);
    const std::size_t owner = owner_of(block);
    if (owner == rank_) return blocks_.give(old.kind, block);
    const std::lock_guard lock(mutex_);
    foreign_[owner].blocks.push_back(word_of(old.kind, block));
    foreign_[owner].bytes += BlockSupply::length_of(old.kind);
}

std::size_t Heap::owner_of(const std::byte* block) const {
    const auto behind = std::ranges::upper_bound(
        slices_, block, {}, [](std::span<std::byte> each) { return static_cast<const std::byte*>(each.data()); });
    return static_cast<std::size_t>(behind - slices_.begin()) - 1;
}

std::vector<Heap::Batch> Heap::pack_foreign(const std::function<bool(int)>& takes) {
    std::vector<Batch> batches;
    for (std::size_t owner = 0; owner < foreign_.size(); ++owner) {
        std::unique_lock lock(mutex_);
        if (foreign_[owner].bytes < batch_bytes || !takes(static_cast<int>(owner))) continue;
        auto blocks = std::exchange(foreign_[owner], {}).blocks;
        lock.unlock();
        blocks.insert(blocks.begin(), blocks.size());
        auto* const batch = static_cast<std::uint64_t*>(allocate(std::span(blocks).size_bytes()));
        if (batch == nullptr) continue; // this rank has no memory left, not even for this
        std::ranges::copy(blocks, batch);
        batches.push_back({static_cast<int>(owner), batch});
    }
    return batches;
}

void Heap::take_back(std::uint64_t* blocks) {
    constexpr std::uint64_t kind_mask = 0xff;
    for (const std::uint64_t word : std::span(blocks + 1, blocks[0]))
        blocks_.give(static_cast<std::uint32_t>(word & kind_mask), reinterpret_cast<std::byte*>(word >> 8)); // NOLINT
    release(blocks);
}

/// How long the block can become where it is.
std::size_t Heap::length(const void* memory) {
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
