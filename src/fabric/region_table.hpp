#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "error/result.hpp"

namespace kumiki::fabric {

/// The position of a region in the arena, in bytes from the arena's start.
struct Extent {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
};

/// The regions of a job. Every rank makes the same calls in the same order, so a region has the same offset in every
/// rank's arena, and a rank's own table is valid for all ranks. contains() is on the path of every put: two loads, no
/// lock. add() and remove() are collective and rare; they may run while other threads call contains().
class RegionTable {
public:
    /// `arena_bytes` is a multiple of `granule`.
    explicit RegionTable(std::size_t arena_bytes);

    /// Finds room for a region. The extent's size is exactly `bytes`; its begin is a multiple of `granule`, or of a
    /// huge page for large regions.
    Result<Extent> add(std::size_t bytes);
    /// Removes the region that begins at `offset` and returns its extent.
    Result<Extent> remove(std::size_t offset);

    /// Whether [offset, offset + bytes) is inside one region; `bytes` is at least 1.
    bool contains(std::size_t offset, std::size_t bytes) const {
        if (offset >= arena_bytes_) return false;
        const Extent* extent = directory_[offset / granule].load(std::memory_order_acquire);
        return extent != nullptr && offset >= extent->begin && offset < extent->end && bytes <= extent->end - offset;
    }

    /// The region that contains this byte of the arena; nothing when there is none.
    std::optional<Extent> find(std::size_t offset) const {
        if (offset >= arena_bytes_) return std::nullopt;
        const Extent* extent = directory_[offset / granule].load(std::memory_order_acquire);
        if (extent == nullptr || offset < extent->begin || offset >= extent->end) return std::nullopt;
        return *extent;
    }

    /// Explains why no region contains [offset, offset + bytes).
    std::string explain(std::size_t offset, std::size_t bytes) const;

    static constexpr std::size_t granule = std::size_t{64} << 10;

private:
    /// The system zeroes entries on first touch, so a large arena costs nothing.
    struct Unmap {
        std::size_t bytes;
        void operator()(std::atomic<const Extent*>* directory) const;
    };
    using Directory = std::unique_ptr<std::atomic<const Extent*>[], Unmap>;
    static Directory make_directory(std::size_t entries);

    void enter(const Extent& extent, const Extent* value);

    std::size_t arena_bytes_;
    std::map<std::size_t, const Extent*> by_begin_;
    // Extents are kept until the end: a program in which one thread uses a region while another releases it is wrong,
    // but must not crash in contains().
    std::vector<std::unique_ptr<const Extent>> kept_;
    Directory directory_; ///< for each granule of the arena, the region that covers it
};

} // namespace kumiki::fabric
