#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "error/result.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::fabric {

/// Words of 64 bits in a region that any rank reads and changes at any rank: on its own host in place, elsewhere by a
/// message and its answer. `region` is where this rank's part of the region begins; words are named by the bytes from
/// there. Changes acquire and release.
class RegionWords {
public:
    RegionWords(const Fabric& fabric, std::byte* region) : fabric_(fabric), region_(region) {}

    Result<std::uint64_t> load(int rank, std::size_t at) const {
        if (auto* const here = place(rank, at)) return std::atomic_ref(*here).load(std::memory_order_acquire);
        return change(rank, Network::Atomic::fetch_add, at, 0);
    }
    Result<> store(int rank, std::size_t at, std::uint64_t value) const {
        if (auto* const here = place(rank, at)) {
            std::atomic_ref(*here).store(value, std::memory_order_release);
            return {};
        }
        return change(rank, Network::Atomic::swap, at, value).map([](std::uint64_t) {});
    }
    /// Returns what was there before, as does compare_swap().
    Result<std::uint64_t> swap(int rank, std::size_t at, std::uint64_t value) const {
        if (auto* const here = place(rank, at)) return std::atomic_ref(*here).exchange(value);
        return change(rank, Network::Atomic::swap, at, value);
    }
    Result<std::uint64_t> compare_swap(int rank, std::size_t at, std::uint64_t expected, std::uint64_t value) const {
        auto* const here = place(rank, at);
        if (here == nullptr) return change(rank, Network::Atomic::compare_swap, at, value, expected);
        std::atomic_ref(*here).compare_exchange_strong(expected, value, std::memory_order_acq_rel);
        return expected;
    }

private:
    /// Null when the rank is on another host.
    std::uint64_t* place(int rank, std::size_t at) const {
        const HostMemory& memory = fabric_.memory();
        if (memory.is_remote(rank)) return nullptr;
        return reinterpret_cast<std::uint64_t*>(memory.arena(rank) + memory.offset(region_) + at);
    }
    Result<std::uint64_t> change(int rank, Network::Atomic operation, std::size_t at, std::uint64_t value,
                                 std::uint64_t expected = 0) const {
        return fabric_.network()->change(rank, operation, fabric_.memory().offset(region_) + at, value, expected);
    }

    const Fabric& fabric_;
    std::byte* region_;
};

} // namespace kumiki::fabric
