#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "dsm/turn.hpp"

namespace kumiki::dsm {

/// Pages of a home that never faults (Pages::keep_open), with the contents that others got, for a few pages. So the
/// home knows at a release what has changed since: if nothing has, the copies stay; and if little has, it can tell the
/// others what (docs/decisions/shared-open-pages.md). Without it, it must announce every page that was fetched.
///
/// All copies of a page that has a place here have the same contents, but for what their holders have written since,
/// and copies of which the home has announced that they are old.
///
/// It lies at the home, in memory that the ranks of its host share, and zeros are an empty one. Thread-safe.
class LentPages {
public:
    static constexpr std::size_t places = 64;
    static std::size_t bytes(std::size_t page_bytes) { return sizeof(LentPages) + places * page_bytes; }

    enum class Lending : std::uint8_t {
        no_place, ///< nothing is copied, and the home must announce the page
        current,  ///< what the home has written since its last release is in the copy, too
        same,     ///< the copy is what others have got
    };
    /// Copies a page for a rank that fetches it. The home may be writing to `frame` at this moment.
    Lending lend(std::size_t page, std::span<const std::byte> frame, std::byte* into);
    /// Another rank has brought changes to the page of the home. Must be called after that, because the page may come
    /// here meanwhile.
    void overwrite(std::size_t page);
    bool has(std::size_t page);

    /// What the home finds about a page at a release.
    enum class Change : std::uint8_t {
        none,
        some,    ///< in `difference`
        unknown, ///< others have changed it, too, and it must be forgotten
    };
    /// A page in a place.
    struct Lent {
        std::size_t page;
        std::uint32_t reviews; ///< since it came here, with this one
        Change change;
        std::vector<std::byte> difference; ///< packed; of the copies from the frame
    };
    enum class Then : std::uint8_t {
        keep,
        forget, ///< no copy of the page counts any more
    };
    /// At the home: calls frame(page), which returns the page from its first byte that counts on, to its end (a
    /// multiple of difference_line), and then each(lent) -> Then. If a changed page is kept, its difference must be
    /// brought to all copies. It may contain what another rank is bringing at this moment, in part.
    template <class Frame, class Each>
    void review(std::size_t page_bytes, Frame frame, Each each);

private:
    struct Place {
        std::uint64_t page;
        std::uint32_t reviews, overwritten;
    };
    std::byte* contents(std::size_t place, std::size_t page_bytes) {
        return reinterpret_cast<std::byte*>(this + 1) + place * page_bytes;
    }
    /// Where the page is; `places` if it is not here.
    std::size_t find(std::size_t page) const;
    Lent compare(const Place& place, std::span<const std::byte> frame, std::span<const std::byte> lent) const;
    void settle(std::size_t at, const Lent& lent, Then then, std::span<std::byte> contents);

    Brief busy_;                      ///< guards what follows; others may read `used_`
    std::atomic<std::uint64_t> used_; ///< a bit for each place that has a page
    std::array<Place, places> places_;
};

template <class Frame, class Each>
void LentPages::review(std::size_t page_bytes, Frame frame, Each each) {
    // Only the home takes pages away, and one thread of it at a time comes here.
    for (std::uint64_t left = used_.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
        const auto at = static_cast<std::size_t>(std::countr_zero(left));
        const std::lock_guard lock(busy_);
        const std::span<const std::byte> now = frame(places_[at].page);
        const std::span lent(contents(at, page_bytes) + page_bytes - now.size(), now.size());
        const Lent found = compare(places_[at], now, lent);
        settle(at, found, each(found), lent);
    }
}

} // namespace kumiki::dsm
