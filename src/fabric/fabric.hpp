#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "error/result.hpp"
#include "fabric/messenger.hpp"
#include "fabric/region_table.hpp"
#include "fabric/shm/segment.hpp"
#include "platform/copy.hpp"
#include "settings/settings.hpp"
#include "wait/wait.hpp"

namespace kumiki::fabric {

/// Whatever moves bytes between the ranks of the job. This one: ranks of one host, which map each other's memory, so
/// that a put is a copy and a signal is a store. The budget of each path stands in README.md.
class Fabric {
public:
    /// Joins the job that the settings describe; without a launcher, makes a job of this process alone.
    static Result<std::unique_ptr<Fabric>> join(const Settings& settings);
    /// Joins as rank settings.rank of a segment that is mapped here already; several ranks may live in one process (the
    /// tests do that).
    static Result<std::unique_ptr<Fabric>> join(const Settings& settings, std::shared_ptr<const shm::Segment> segment);
    ~Fabric();
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool crowded() const { return patience_.crowded; }
    const wait::Patience& patience() const { return patience_; }
    RegionTable& regions() { return regions_; }
    Messenger& messenger() { return *messenger_; }

    /// Tells the launcher that this rank goes in good order.
    void leave() { own().state.store(shm::RankState::left, std::memory_order_release); }

    bool has_rank(int rank) const { return rank >= 0 && rank < size_; }

    // -- the fast path: addresses --

    /// Where `bytes` at `own` (an address in a region of this rank) lie at rank `rank`; null when there is no such rank
    /// or they are not inside one region: refusal() then says why. `bytes` is at least 1.
    std::byte* translate(int rank, const void* own, std::size_t bytes) const {
        const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(own) - arena_);
        if (!has_rank(rank) || !regions_.contains(offset, bytes)) [[unlikely]]
            return nullptr;
        return arena(rank) + offset;
    }
    /// The same for an aligned 64-bit word, the only thing that signals and atomics work on.
    std::atomic<std::uint64_t>* word(int rank, const std::uint64_t* own) const {
        if (reinterpret_cast<std::uintptr_t>(own) % sizeof(*own) != 0) [[unlikely]]
            return nullptr;
        return reinterpret_cast<std::atomic<std::uint64_t>*>(translate(rank, own, sizeof(*own)));
    }
    Failure refusal(std::string_view operation, int rank, const void* own, std::size_t bytes) const;

    /// The offset of own memory in the arena when all of it is inside one region; the others find it by arena(rank) +
    /// offset.
    bool in_region(const void* own, std::size_t bytes) const { return translate(rank_, own, bytes) != nullptr; }
    std::size_t offset(const void* own) const {
        return static_cast<std::size_t>(static_cast<const std::byte*>(own) - arena_);
    }
    std::byte* arena(int rank) const { return arenas_ + static_cast<std::size_t>(rank) * arena_bytes_; }

    // -- the fast path: bytes --

    void copy(void* destination, const void* source, std::size_t bytes) const {
        if (bytes == sizeof(std::uint64_t))
            std::memcpy(destination, source, sizeof(std::uint64_t)); // one load, one store
        else if (bytes >= nontemporal_bytes_)
            platform::copy_around_caches(static_cast<std::byte*>(destination), static_cast<const std::byte*>(source),
                                         bytes);
        else if (bytes >= platform::shortest_in_cache && bytes <= platform::longest_in_cache)
            platform::copy_in_cache(static_cast<std::byte*>(destination), static_cast<const std::byte*>(source), bytes);
        else std::memcpy(destination, source, bytes);
    }

    /// After making something true that a thread of rank `rank` may wait for.
    void ring(int rank) const { wait::ring(block(rank).bell, patience_); }

    /// Waits until ready(), which reads what other ranks write with acquire order; runs active messages meanwhile.
    template <class Ready>
    void wait(Ready ready);

    /// This rank's part, and the others', of what the ranks of the host share.
    shm::RankBlock& block(int rank) const { return blocks_[rank]; }
    shm::RankBlock& own() const { return blocks_[rank_]; }
    shm::Header& header() const { return segment_->header(); }

    /// Makes a region usable after it was entered in the table: fails when the host has not the memory for all ranks'
    /// copies; pins it when the settings say so. Pages are placed where they are first touched.
    Result<> prepare(const Extent& extent) const;
    /// Gives its memory back.
    void discard(const Extent& extent) const;
    std::byte* address(const Extent& extent) const { return arena_ + extent.begin; }

private:
    Fabric(const Settings& settings, std::shared_ptr<const shm::Segment> segment);

    std::shared_ptr<const shm::Segment> segment_;
    int rank_, size_;
    // What the segment could tell too, but a put should not have to ask: the address of its store is one multiplication
    // away.
    shm::RankBlock* blocks_;
    std::byte* arenas_;
    std::size_t arena_bytes_;
    std::byte* arena_; ///< this rank's
    std::size_t nontemporal_bytes_;
    bool pin_;
    wait::Patience patience_;
    RegionTable regions_;
    std::unique_ptr<Messenger> messenger_;
};

template <class Ready>
void Fabric::wait(Ready ready) {
    if (ready()) return;
    if (!messenger_->active()) {
        wait::wait(own().bell, patience_, ready);
        return;
    }
    const Messenger::Attendance attendance(*messenger_);
    wait::wait(own().bell, patience_, [&] {
        if (ready()) return true;
        return messenger_->progress() > 0 && ready();
    });
}

} // namespace kumiki::fabric
