#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "fabric/fabric.hpp"
#include "fabric/region_words.hpp"
#include "openmp/ranks/process/signals.hpp"
#include "platform/memory.hpp"

namespace kumiki::openmp {

/// Words by which the threads of all ranks deal out work: each rank has the same ones, and most are used at rank 0
/// only. `region` is this rank's part of a region of bytes() zeros.
class Words {
public:
    /// From `returned` on there is one for each rank, for blocks that return to their owner; then twice one for each,
    /// in which it tells that it has come to the end of a region (Ranks::end_word()).
    enum Index : std::uint32_t {
        single,
        pointer,
        claims,
        turns = claims + 16,
        changes = turns + 16,
        tied,
        cancelled_region,
        cancelled_share,
        events,
        tasks,
        returned
    };
    static constexpr std::size_t bytes(std::size_t ranks) { return (returned + 3 * ranks) * platform::apart; }

    Words(fabric::Fabric& fabric, std::byte* region) : fabric_(fabric), region_(region), words_(fabric, region) {}

    std::uint64_t load(std::uint32_t index, int rank = 0) const {
        const SignalsLater later;
        return found(words_.load(rank, at(index)));
    }
    void store(std::uint32_t index, std::uint64_t value, int rank = 0) const {
        const SignalsLater later;
        found(words_.swap(rank, at(index), value));
    }
    /// This rank's own.
    std::uint64_t own(std::uint32_t index) const {
        return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(region_ + at(index))).load(std::memory_order_acquire);
    }
    /// Returns false, and the value in `expected`, if that was another one.
    bool compare_and_store(std::uint32_t index, std::uint64_t& expected, std::uint64_t value, int rank = 0) const {
        const SignalsLater later;
        const std::uint64_t before = found(words_.compare_swap(rank, at(index), expected, value));
        return before == std::exchange(expected, before);
    }

    /// How many changes for which this rank's threads may wait have been announced.
    std::uint64_t announced() const { return word(region_).load(std::memory_order_acquire); }
    /// Announces a change to the threads of the ranks from `first` to `behind` - 1.
    void announce(int first, int behind) const;

private:
    static constexpr std::size_t at(std::uint32_t index) { return index * platform::apart; }
    /// The number of changes announced, in a rank's part of the region.
    static std::atomic_ref<std::uint64_t> word(std::byte* region) {
        return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(region + at(changes)));
    }
    /// Ends the process where the rank cannot be reached: no directive could go on.
    std::uint64_t found(const Result<std::uint64_t>& before) const;

    fabric::Fabric& fabric_;
    std::byte* region_;
    fabric::RegionWords words_;
};

} // namespace kumiki::openmp
