#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "error/result.hpp"
#include "fabric/region_table.hpp"
#include "fabric/shm/segment.hpp"
#include "platform/copy.hpp"
#include "settings/settings.hpp"

namespace kumiki::fabric {

/// The memory that the ranks of this host share: each rank's arena, which holds its regions, and each rank's block,
/// which holds the library's own data. Translates an address of this rank into the address of the same place at another
/// rank of this host. Ranks on other hosts are only known to be elsewhere.
class HostMemory {
public:
    HostMemory(const Settings& settings, std::shared_ptr<const shm::Segment> segment);

    /// Maps rank `rank` of the job to local number `local` of this host. Until then, ranks are known only by local
    /// number.
    void map_rank(int rank, int local);

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool has_rank(int rank) const { return rank >= 0 && rank < size_; }
    RegionTable& regions() { return regions_; }
    const RegionTable& regions() const { return regions_; }

    // -- the fast path: addresses --

    /// Returns the address at rank `rank` of the `bytes` at `own`, an address in a region of this rank. Returns null
    /// when that rank is on another host (see remote()), when there is no such rank, or when the bytes are not inside
    /// one region; refusal() then explains why. `bytes` is at least 1.
    std::byte* translate(int rank, const void* own, std::size_t bytes) const {
        const std::size_t offset = this->offset(own);
        if (!has_rank(rank) || !regions_.contains(offset, bytes)) [[unlikely]]
            return nullptr;
        std::byte* const there = arenas_[static_cast<std::size_t>(rank)];
        return there == nullptr ? nullptr : there + offset;
    }
    /// The same for an aligned 64-bit word, the only type that signals and atomics work on.
    std::uint64_t* word(int rank, const std::uint64_t* own) const {
        if (reinterpret_cast<std::uintptr_t>(own) % sizeof(*own) != 0) [[unlikely]]
            return nullptr;
        return reinterpret_cast<std::uint64_t*>(translate(rank, own, sizeof(*own)));
    }
    /// Whether the rank is on another host and the bytes are inside a region; the network then addresses them by
    /// offset().
    bool remote(int rank, const void* own, std::size_t bytes) const {
        return is_remote(rank) && (bytes == 0 || in_region(own, bytes));
    }
    bool remote_word(int rank, const std::uint64_t* own) const {
        return is_remote(rank) && word(rank_, own) != nullptr;
    }
    bool is_remote(int rank) const { return has_rank(rank) && arenas_[static_cast<std::size_t>(rank)] == nullptr; }
    Failure refusal(std::string_view operation, int rank, const void* own, std::size_t bytes) const;

    /// Whether the bytes at `own` are inside one region; then their offset() in the arena is the same at all ranks.
    bool in_region(const void* own, std::size_t bytes) const { return translate(rank_, own, bytes) != nullptr; }
    std::size_t offset(const void* own) const {
        return static_cast<std::size_t>(static_cast<const std::byte*>(own) - arena_);
    }
    std::byte* own_arena() const { return arena_; }
    /// The word at `offset` in this rank's arena.
    std::atomic_ref<std::uint64_t> own_word(std::size_t offset) const {
        return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(arena_ + offset));
    }

    // -- the fast path: bytes --

    void copy(void* destination, const void* source, std::size_t bytes) const {
        if (bytes == sizeof(std::uint64_t))
            std::memcpy(destination, source, sizeof(std::uint64_t)); // one load, one store
        else if (bytes >= nontemporal_bytes_)
            platform::copy_around_caches(static_cast<std::byte*>(destination), static_cast<const std::byte*>(source),
                                         bytes);
        else if (bytes >= platform::shortest_in_cache && bytes <= platform::longest_in_cache)
            platform::copy_in_cache(static_cast<std::byte*>(destination), static_cast<const std::byte*>(source), bytes);
        else if (bytes > 0) std::memcpy(destination, source, bytes); // nothing may be at a null pointer
    }

    /// Copies one part of a transfer of `whole` bytes, whose length decides how to copy.
    void copy_part(std::byte* destination, const std::byte* source, std::size_t bytes, std::size_t whole) const {
        if (whole >= nontemporal_bytes_) platform::copy_around_caches(destination, source, bytes);
        else copy(destination, source, bytes);
    }

    // -- shared memory of the ranks of this host, by rank in the job --

    shm::RankBlock& block(int rank) const { return *blocks_[static_cast<std::size_t>(rank)]; }
    shm::RankBlock& own() const { return *own_; }
    std::byte* arena(int rank) const { return arenas_[static_cast<std::size_t>(rank)]; }
    shm::Header& header() const { return segment_->header(); }

    // -- the same by local number --

    int host_rank() const { return host_rank_; }
    int host_size() const { return host_size_; }
    /// The rank in the job of local rank `local`; local_rank() converts the other way, for a rank of this host.
    int rank_on_host(int local) const { return ranks_[static_cast<std::size_t>(local)]; }
    int local_rank(int rank) const { return locals_[static_cast<std::size_t>(rank)]; }
    shm::RankBlock& host_block(int local) const { return segment_->block(local); }
    shm::Channel& host_channel(int from, int to) const { return segment_->channel(from, to); }

    // -- the file behind this memory, for a second mapping of the same bytes --

    int descriptor() const { return segment_->descriptor(); }
    /// `at` is in the arena of a rank of this host.
    std::size_t file_offset(const std::byte* at) const {
        return static_cast<std::size_t>(at - reinterpret_cast<const std::byte*>(&segment_->header()));
    }

    // -- regions --

    /// Makes a region usable after its entry in the table. Fails when the host has too little memory for all ranks'
    /// copies, of which each takes `needed` bytes, or all that it has; pins the region when the settings say so. Pages
    /// are placed by first touch.
    Result<> prepare(const Extent& extent, std::uint64_t needed) const;
    /// Returns the region's memory to the system.
    void discard(const Extent& extent) const;
    std::byte* address(const Extent& extent) const { return arena_ + extent.begin; }

private:
    std::shared_ptr<const shm::Segment> segment_;
    int rank_, size_, host_rank_, host_size_;
    std::byte* arena_;    ///< this rank's
    shm::RankBlock* own_; ///< this rank's
    // Indexed by rank of the job; null for ranks on other hosts. The segment can compute these too, but a lookup here
    // keeps a put short.
    std::vector<shm::RankBlock*> blocks_;
    std::vector<std::byte*> arenas_;
    std::vector<int> locals_; ///< local number by rank of the job
    std::vector<int> ranks_;  ///< rank of the job by local number
    std::size_t nontemporal_bytes_;
    bool pin_;
    RegionTable regions_;
};

} // namespace kumiki::fabric
