#include "dsm/page_memory.hpp"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

#include "dsm/turn.hpp"

namespace kumiki::dsm {

PageMemory::PageMemory(fabric::Fabric& fabric, Place place, Layout layout, std::unique_ptr<platform::PageFaults> faults)
    : fabric_(fabric),
      data_(place.data),
      region_(place.region),
      twins_(place.twins != nullptr ? place.twins : place.region + layout.twins()),
      layout_(layout),
      faults_(std::move(faults)),
      pages_(layout.pages) {}

PageMemory::~PageMemory() {
    if (!layout_.checked) platform::release_zeros(twins_, layout_.frames());
}

std::byte* PageMemory::region_at(int rank) const {
    std::byte* const arena = fabric_.memory().arena(rank);
    return arena == nullptr ? nullptr : arena + fabric_.memory().offset(region_);
}

void PageMemory::give_back(std::size_t page) {
    platform::discard(frame(page).data(), layout_.page_bytes);
    if (layout_.checked) platform::discard(twin(page).data(), layout_.page_bytes);
    else platform::discard_private(twin(page).data(), layout_.page_bytes);
}

void PageMemory::lock(Page& page) { Turn(fabric_, page.locked).lock(); }
void PageMemory::unlock(Page& page) { Turn(fabric_, page.locked).unlock(); }

void PageMemory::change(std::size_t first, std::size_t count, platform::PageAccess from, platform::PageAccess to) {
    const auto changed = faults_->change(first * layout_.page_bytes, count * layout_.page_bytes, from, to);
    if (!changed) give_up(changed.error());
}

void PageMemory::give_up(const Failure& failure) const {
    fmt::print(stderr, "kumiki: rank {} ends: {}\n", fabric_.rank(), failure.message);
    std::abort();
}

/// Marks pages in their home's region, before they are read there, so that a home that writes to one after that sees
/// the mark at its next release: between mark and read there is a fence, and so there is between the home's writes and
/// its look (protect_fetched), hence either the copy has the write, or the home sees the mark and announces the page.
/// The home takes the word first, then the block's byte, and then looks at the page's, so they are set in the other
/// order. With the page's mark the home sees the holder that was added before it (open_again).
void PageMemory::mark_fetched(std::byte* region, std::size_t first, std::size_t count) const {
    const std::size_t end = first + count;
    for (std::size_t page = first; page < end; ++page)
        if (layout_.lends) fetched(region, page).fetch_or(mark, std::memory_order_release);
        else fetched(region, page).store(mark, std::memory_order_release);
    std::uint64_t parts = 0;
    for (std::size_t block = first / Layout::block; block * Layout::block < end; ++block) {
        std::atomic_ref(reinterpret_cast<std::uint8_t&>(region[layout_.fetched_blocks() + block]))
            .store(1, std::memory_order_release);
        parts |= std::uint64_t{1} << block / layout_.blocks_in_part();
    }
    std::atomic_ref(reinterpret_cast<std::uint64_t&>(region[layout_.news()]))
        .fetch_or(parts, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

} // namespace kumiki::dsm
