#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "dsm/block_supply.hpp"
#include "error/result.hpp"
#include "fabric/region_words.hpp"

namespace kumiki::dsm {

/// Memory for single threads of single ranks: blocks of a shared array, of which every rank has an equal part, its
/// home. A rank takes blocks from its own part, without a word to the others. Any rank frees any block, which returns
/// to the rank that has it.
///
/// Which blocks there are is recorded beside the array, in a region: a word for each place where a block can begin, at
/// the rank that has it. So a free of something else, and a second one, are found out, whoever calls.
///
/// Where ranks have copies, a block that another rank frees returns after that rank's next release. Until then, changes
/// to the block may be on their way to its home, and would overwrite what its next user stores there.
class SharedHeap {
public:
    /// `memory` is that of all ranks, one part after another, of which `region` is this rank's part of the records:
    /// record_bytes() zeros.
    SharedHeap(const fabric::Fabric& fabric, std::span<std::byte> memory, std::byte* region, bool has_copies);
    static std::size_t record_bytes(std::size_t part_bytes) {
        return first_record + part_bytes / BlockSupply::smallest * sizeof(std::uint64_t);
    }

    const std::byte* begin() const { return memory_.data(); }
    bool has(const void* address) const;

    /// Zeros, aligned to BlockSupply::smallest. Thread-safe, as are the others.
    Result<void*> allocate(std::size_t bytes);
    Result<> release(void* memory);

    /// Blocks of other ranks that this rank has freed since the last call.
    using Freed = std::vector<std::size_t>; ///< bytes from begin()
    Freed take_freed();
    /// Returns them, when what this rank had written before take_freed() has reached its homes.
    Result<> give_back(const Freed& freed) const;

private:
    /// A word of a record: 0 where no block begins.
    struct Record {
        enum class State : std::uint8_t { none, used, freed };
        State state;
        std::uint32_t kind;
        std::uint64_t next; ///< of the blocks that have returned: where it begins, as in `returned`

        static Record of(std::uint64_t word) {
            return {static_cast<State>(word & 0xFF), static_cast<std::uint32_t>(word >> 8 & 0xFF), word >> 16};
        }
        std::uint64_t word() const { return static_cast<std::uint64_t>(state) | std::uint64_t{kind} << 8 | next << 16; }
    };
    /// The first word of a rank's records: the block that has returned last; 0: none, else its number + 1.
    static constexpr std::size_t returned = 0, first_record = platform::apart;

    int owner_of(std::size_t offset) const { return static_cast<int>(offset / part_bytes_); }
    /// The number of the block that begins there, in its owner's part.
    std::size_t number_of(std::size_t offset) const { return offset % part_bytes_ / BlockSupply::smallest; }
    static std::size_t record_at(std::size_t number) { return first_record + number * sizeof(std::uint64_t); }
    std::byte* own_block(std::size_t number) const { return own_.data() + number * BlockSupply::smallest; }
    Result<> collect();
    Result<> give_back(std::size_t offset) const;

    const fabric::Fabric& fabric_;
    std::span<std::byte> memory_;
    std::size_t part_bytes_;
    std::span<std::byte> own_;
    fabric::RegionWords records_;
    bool has_copies_;
    BlockSupply blocks_;
    std::mutex mutex_; ///< guards the list
    Freed freed_;
};

} // namespace kumiki::dsm
