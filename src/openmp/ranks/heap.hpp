#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace kumiki::openmp {

/// The program's heap, which all ranks see: each rank takes memory from a slice of its own. A rank that frees memory of
/// another one keeps it for itself.
///
/// What is free is known in private memory only; in front of each block there is its length, which never changes while
/// the block is free. So no thread touches the program's memory while it holds the heap's lock.
class Heap {
public:
    /// `all` is the memory of all ranks, and `own` the slice of this one, of zeros.
    Heap(std::span<std::byte> all, std::span<std::byte> own) : all_(all), next_(own.data()), end_(next_ + own.size()) {}

    bool has(const void* memory) const { return memory >= all_.data() && memory < all_.data() + all_.size(); }

    /// Null if there is no memory left. `alignment` is a power of two.
    void* allocate(std::size_t bytes, std::size_t alignment = smallest);
    void* allocate_zeros(std::size_t bytes);
    void release(void* memory);
    /// Null if there is no memory left; the old block then stays.
    void* resize(void* memory, std::size_t bytes);
    std::size_t length(const void* memory) const;

    static constexpr std::size_t smallest = 16;

private:
    struct Header {
        std::uint32_t kind;  ///< of the block: its length
        std::uint32_t shift; ///< bytes from the block's beginning to the memory, for longer alignments
        std::uint64_t bytes;
    };
    static_assert(sizeof(Header) == smallest);
    static constexpr std::size_t kinds = 256;

    static std::uint32_t kind_of(std::size_t bytes);
    static std::size_t length_of(std::uint32_t kind);
    static Header& header(void* memory) { return static_cast<Header*>(memory)[-1]; }
    std::byte* take(std::uint32_t kind, bool& fresh);

    std::span<std::byte> all_;
    std::mutex mutex_; ///< guards the rest
    std::byte *next_, *end_;
    std::array<std::vector<std::byte*>, kinds> free_;
};

} // namespace kumiki::openmp
