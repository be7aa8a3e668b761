#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "dsm/block_supply.hpp"

namespace kumiki::openmp {

/// The program's heap, which all ranks see: each rank takes memory from a slice of its own. What a rank frees of
/// another one's returns to that one, in batches, when the ranks have met: before, changes to it may be on their way.
///
/// In front of the memory of each block there is its kind, which never changes while the block is free.
class Heap {
public:
    /// `all` is the memory of all ranks, of zeros, and `slices` are theirs, in order.
    Heap(std::span<std::byte> all, std::vector<std::span<std::byte>> slices, int rank)
        : all_(all),
          slices_(std::move(slices)),
          rank_(static_cast<std::size_t>(rank)),
          blocks_(slices_[rank_], sizeof(Header)),
          foreign_(slices_.size()) {}

    const std::byte* begin() const { return all_.data(); }
    bool has(const void* memory) const { return memory >= all_.data() && memory < all_.data() + all_.size(); }

    /// Null if there is no memory left. `alignment` is a power of two.
    void* allocate(std::size_t bytes, std::size_t alignment = smallest);
    void* allocate_zeros(std::size_t bytes, std::size_t alignment = smallest);
    void release(void* memory);
    /// Null if there is no memory left; the old block then stays.
    void* resize(void* memory, std::size_t bytes);
    /// What the program may use of it, all of which resize() keeps.
    std::size_t usable(const void* memory) const { return static_cast<const Header*>(memory)[-1].bytes; }

    /// Blocks of another rank, in memory of this one that all ranks see: how many there are, and the blocks.
    struct Batch {
        int owner;
        std::uint64_t* blocks;
    };
    /// What this rank has freed of others, if it is worth a batch; but only for ranks for which takes(rank) is true,
    /// which is asked only then.
    std::vector<Batch> pack_foreign(const std::function<bool(int)>& takes);
    /// The owner takes its blocks back, and frees the batch.
    void take_back(std::uint64_t* blocks);

    static constexpr std::size_t smallest = dsm::BlockSupply::smallest;

private:
    struct Header {
        std::uint32_t kind;  ///< of the block: its length
        std::uint32_t shift; ///< bytes from the block's beginning to the memory, for longer alignments
        std::uint64_t bytes;
    };
    static_assert(sizeof(Header) == smallest);
    static Header& header(void* memory) { return static_cast<Header*>(memory)[-1]; }
    static std::size_t length(const void* memory);
    struct Taken {
        std::byte* memory; ///< null: there is none left
        bool fresh;        ///< it has zeros
    };
    Taken take(std::size_t bytes, std::size_t alignment);

    /// Blocks of one other rank, which need less room as words (word_of()).
    struct Foreign {
        std::vector<std::uint64_t> blocks;
        std::size_t bytes = 0;
    };
    static constexpr std::size_t batch_bytes = std::size_t{1} << 20; ///< from so many bytes on a batch is worth it
    static std::uint64_t word_of(std::uint32_t kind, const std::byte* block) {
        return reinterpret_cast<std::uintptr_t>(block) << 8 | kind;
    }
    std::size_t owner_of(const std::byte* block) const;

    std::span<std::byte> all_;
    std::vector<std::span<std::byte>> slices_; ///< by rank
    std::size_t rank_;
    dsm::BlockSupply blocks_;
    std::mutex mutex_; ///< guards the rest; a thread that has it touches no memory of the program
    std::vector<Foreign> foreign_;
};

} // namespace kumiki::openmp
