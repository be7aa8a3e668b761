#include "dsm/lent_pages.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "dsm/difference.hpp"
#include "platform/unordered_reads.hpp"

namespace kumiki::dsm {

LentPages::Place* LentPages::find(std::size_t page) {
    const auto found = std::ranges::find(places_, page + 1, &Place::page);
    return found == places_.end() ? nullptr : &*found;
}

/// Where the page has a place, this rank gets what the others have, and not what the home has written since its last
/// release: it may read that only after the next one, which compares what is here. But changes of third ranks it gets.
///
/// The home writes, and then looks whether any page is here; here it is said first that there is one, and then the page
/// is copied; so with the fences (the home's is in Pages::release_to) either the copy has what was written, or the home
/// compares it. The same holds for overwrite().
bool LentPages::lend(std::size_t page, std::span<const std::byte> frame, std::byte* into) {
    const platform::UnorderedReads unordered; // bytes that are written now are not read by programs without data races
    const std::lock_guard lock(busy_);
    auto* place = find(page);
    const bool is_new = place == nullptr;
    if (is_new) {
        const auto unused = std::ranges::find(places_, std::uint64_t{0}, &Place::page);
        if (unused == places_.end()) return false;
        place = &*unused;
        *place = {page + 1, 0, 0};
        used_.fetch_add(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    std::byte* const kept = contents(static_cast<std::size_t>(place - places_.data()), frame.size());
    if (is_new) std::memcpy(kept, frame.data(), frame.size());
    std::memcpy(into, place->overwritten != 0 ? frame.data() : kept, frame.size());
    return true;
}

void LentPages::overwrite(std::size_t page) {
    std::atomic_thread_fence(std::memory_order_seq_cst); // see lend()
    if (!any()) return;
    const std::lock_guard lock(busy_);
    if (Place* const place = find(page)) place->overwritten = 1;
}

bool LentPages::has(std::size_t page) {
    const std::lock_guard lock(busy_);
    return find(page) != nullptr;
}

LentPages::Lent LentPages::compare(const Place& place, std::span<const std::byte> frame,
                                   std::span<const std::byte> lent) const {
    const platform::UnorderedReads unordered; // threads may be writing that take no part in the release
    Lent found{place.page - 1, place.reviews + 1, Change::none, {}};
    if (place.overwritten != 0) found.change = Change::unknown;
    else if (pack_difference(frame, lent, found.difference) != 0) found.change = Change::some;
    return found;
}

void LentPages::settle(Place& place, const Lent& lent, Then then, std::span<std::byte> contents) {
    place.reviews = lent.reviews;
    if (then == Then::forget) {
        place = {};
        used_.fetch_sub(1, std::memory_order_relaxed);
    } else if (lent.change == Change::some) {
        apply_difference(lent.difference, contents);
    }
}

} // namespace kumiki::dsm
