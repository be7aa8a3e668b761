#pragma once

#include <atomic>
#include <cstdint>

#include "fabric/fabric.hpp"
#include "platform/memory.hpp"

namespace kumiki::openmp {

/// Words at rank 0 by which the threads of all ranks deal out work. `region` is this rank's part of a region of bytes()
/// zeros.
class Words {
public:
    enum Index : std::uint32_t { single, pointer, claims, turns = claims + 16, count = turns + 16 };
    static constexpr std::size_t bytes() { return count * platform::apart; }

    Words(fabric::Fabric& fabric, std::byte* region)
        : fabric_(fabric), region_(region), at_root_(fabric.memory().is_remote(0) ? nullptr : root()) {}

    std::uint64_t load(std::uint32_t index) const {
        if (at_root_ != nullptr) return word(index).load(std::memory_order_acquire);
        return change(fabric::Network::Atomic::fetch_add, index, 0, 0);
    }
    void store(std::uint32_t index, std::uint64_t value) const {
        if (at_root_ != nullptr) word(index).store(value, std::memory_order_release);
        else change(fabric::Network::Atomic::swap, index, value, 0);
    }
    /// Returns false, and the value in `expected`, if that was another one.
    bool compare_and_store(std::uint32_t index, std::uint64_t& expected, std::uint64_t value) const {
        if (at_root_ != nullptr) return word(index).compare_exchange_strong(expected, value, std::memory_order_acq_rel);
        const std::uint64_t found = change(fabric::Network::Atomic::compare_swap, index, value, expected);
        if (found == expected) return true;
        expected = found;
        return false;
    }

private:
    std::byte* root() const { return fabric_.memory().arena(0) + fabric_.memory().offset(region_); }
    std::atomic_ref<std::uint64_t> word(std::uint32_t index) const {
        return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at_root_ + index * platform::apart));
    }
    std::uint64_t change(fabric::Network::Atomic operation, std::uint32_t index, std::uint64_t value,
                         std::uint64_t expected) const;

    fabric::Fabric& fabric_;
    std::byte *region_, *at_root_; ///< at_root_ is null when rank 0 is on another host
};

} // namespace kumiki::openmp
