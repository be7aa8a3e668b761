#include "fabric/region_table.hpp"

#include <fmt/format.h>
#include <new>

#include "platform/memory.hpp"

namespace kumiki::fabric {

using platform::round_up;

RegionTable::Directory RegionTable::make_directory(std::size_t entries) {
    const std::size_t bytes = entries * sizeof(std::atomic<const Extent*>);
    std::byte* memory = platform::reserve_zeros(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return Directory(reinterpret_cast<std::atomic<const Extent*>*>(memory), Unmap{bytes});
}

void RegionTable::Unmap::operator()(std::atomic<const Extent*>* directory) const {
    platform::release_zeros(reinterpret_cast<std::byte*>(directory), bytes);
}

RegionTable::RegionTable(std::size_t arena_bytes)
    : arena_bytes_(arena_bytes), directory_(make_directory(arena_bytes / granule)) {}

Result<Extent> RegionTable::add(std::size_t bytes) {
    const std::size_t alignment = bytes >= platform::huge_page ? platform::huge_page : granule;
    std::size_t begin = 0;
    for (const auto& [next, extent] : by_begin_) {
        if (begin + bytes <= next) break;
        begin = round_up(extent->end, alignment);
    }
    if (bytes > arena_bytes_ || begin > arena_bytes_ - bytes)
        return fail(KUMIKI_ERROR_MEMORY,
                    fmt::format("no room for a region of {} bytes: the arena of a rank has {} bytes, {} of them up to "
                                "the end of the last "
                                "region in use; KUMIKI_ARENA makes it larger",
                                bytes, arena_bytes_, by_begin_.empty() ? 0 : by_begin_.rbegin()->second->end));
    const Extent& extent = *kept_.emplace_back(std::make_unique<const Extent>(Extent{begin, begin + bytes}));
    by_begin_.emplace(begin, &extent);
    enter(extent, &extent);
    return extent;
}

Result<Extent> RegionTable::remove(std::size_t offset) {
    const auto found = by_begin_.find(offset);
    if (found == by_begin_.end())
        return fail(
            KUMIKI_ERROR_REGION,
            "the memory to release is not the start of a region; give the pointer that kumiki_allocate returned");
    const Extent extent = *found->second;
    by_begin_.erase(found);
    enter(extent, nullptr);
    return extent;
}

void RegionTable::enter(const Extent& extent, const Extent* value) {
    for (std::size_t at = extent.begin / granule; at < round_up(extent.end, granule) / granule; ++at)
        directory_[at].store(value, std::memory_order_release);
}

std::string RegionTable::explain(std::size_t offset, std::size_t bytes) const {
    const Extent* extent =
        offset < arena_bytes_ ? directory_[offset / granule].load(std::memory_order_acquire) : nullptr;
    if (extent == nullptr)
        return "no region begins at or covers this address; allocate one, or give an address inside one";
    return fmt::format("the region there has {} bytes, and bytes {} to {} of it were asked for", extent->size(),
                       offset - extent->begin, offset - extent->begin + bytes);
}

} // namespace kumiki::fabric
