#include "dsm/lent_pages.hpp"

#include <cstring>
#include <mutex>

#include "dsm/difference.hpp"
#include "platform/unordered_reads.hpp"

namespace kumiki::dsm {

std::size_t LentPages::find(std::size_t page) const {
    for (std::uint64_t left = used_.load(std::memory_order_relaxed); left != 0; left &= left - 1)
        if (const auto at = static_cast<std::size_t>(std::countr_zero(left)); places_[at].page == page) return at;
    return places;
}

/// Where the page has a place, this rank gets what the others have, and not what the home has written since its last
/// release: it may read that only after the next one, which compares what is here. But changes of third ranks it gets.
///
/// A rank that brings these writes them, and then looks whether any page is here; here it is said first that this one
/// is, and then it is copied; so with the fences on both sides either the copy has what was brought, or overwrite()
/// finds the page. The home, whose fence is in Pages::release_to, finds the page or its mark (Pages::mark_fetched).
LentPages::Lending LentPages::lend(std::size_t page, std::span<const std::byte> frame, std::byte* into) {
    const platform::UnorderedReads unordered; // bytes that are written now are not read by programs without data races
    const std::lock_guard lock(busy_);
    std::size_t at = find(page);
    const bool is_new = at == places;
    if (is_new) {
        const std::uint64_t used = used_.load(std::memory_order_relaxed);
        at = static_cast<std::size_t>(std::countr_one(used));
        if (at == places) return Lending::no_place;
        places_[at] = {page, 0, 0};
        used_.store(used | std::uint64_t{1} << at, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    std::byte* const kept = contents(at, frame.size());
    if (is_new) std::memcpy(kept, frame.data(), frame.size());
    const bool overwritten = places_[at].overwritten != 0;
    std::memcpy(into, overwritten ? frame.data() : kept, frame.size());
    return is_new || overwritten ? Lending::current : Lending::same;
}

void LentPages::overwrite(std::size_t page) {
    std::atomic_thread_fence(std::memory_order_seq_cst); // see lend()
    if (used_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(busy_);
    if (const std::size_t at = find(page); at != places) places_[at].overwritten = 1;
}

bool LentPages::has(std::size_t page) {
    const std::lock_guard lock(busy_);
    return find(page) != places;
}

LentPages::Lent LentPages::compare(const Place& place, std::span<const std::byte> frame,
                                   std::span<const std::byte> lent) const {
    const platform::UnorderedReads unordered; // threads may be writing that take no part in the release
    Lent found{place.page, place.reviews + 1, Change::none, {}};
    if (place.overwritten != 0) found.change = Change::unknown;
    else if (pack_difference(frame, lent, found.difference) != 0) found.change = Change::some;
    return found;
}

void LentPages::settle(std::size_t at, const Lent& lent, Then then, std::span<std::byte> contents) {
    places_[at].reviews = lent.reviews;
    if (then == Then::forget) {
        used_.store(used_.load(std::memory_order_relaxed) & ~(std::uint64_t{1} << at), std::memory_order_relaxed);
    } else if (lent.change == Change::some) {
        apply_difference(lent.difference, contents);
    }
}

} // namespace kumiki::dsm
