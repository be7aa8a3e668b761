#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dsm/block_supply.hpp"

namespace kumiki::openmp {

/// The program's heap, which all ranks see: each rank takes memory from a slice of its own. A rank that frees memory of
/// another one keeps it for itself.
///
/// In front of the memory of each block there is its kind, which never changes while the block is free.
class Heap {
public:
    /// `all` is the memory of all ranks, and `own` the slice of this one, of zeros.
    Heap(std::span<std::byte> all, std::span<std::byte> own) : all_(all), blocks_(own, sizeof(Header)) {}

    const std::byte* begin() const { return all_.data(); }
    bool has(const void* memory) const { return memory >= all_.data() && memory < all_.data() + all_.size(); }

    /// Null if there is no memory left. `alignment` is a power of two.
    void* allocate(std::size_t bytes, std::size_t alignment = smallest);
    void* allocate_zeros(std::size_t bytes);
    void release(void* memory);
    /// Null if there is no memory left; the old block then stays.
    void* resize(void* memory, std::size_t bytes);
    std::size_t length(const void* memory) const;

    static constexpr std::size_t smallest = dsm::BlockSupply::smallest;

private:
    struct Header {
        std::uint32_t kind;  ///< of the block: its length
        std::uint32_t shift; ///< bytes from the block's beginning to the memory, for longer alignments
        std::uint64_t bytes;
    };
    static_assert(sizeof(Header) == smallest);
    static Header& header(void* memory) { return static_cast<Header*>(memory)[-1]; }

    std::span<std::byte> all_;
    dsm::BlockSupply blocks_;
};

} // namespace kumiki::openmp
