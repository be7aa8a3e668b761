#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dsm/counters.hpp"
#include "dsm/homes.hpp"
#include "fabric/fabric.hpp"
#include "platform/fault_signals.hpp"
#include "platform/page_faults.hpp"

namespace kumiki::dsm {

class Courier;

/// A write notice: pages of one array that a rank has changed since the last barrier.
struct Notice {
    std::uint32_t array, count;
    std::uint64_t first;
};

/// The pages of one shared array at one rank, where every rank has a copy of its own: home-based release consistency
/// with several writers of a page and invalidation at the barrier.
///
/// Every page has a home, whose copy gets everybody's changes. Another rank fetches a page when it first touches it,
/// makes a twin of it when it first writes to it, and at the next barrier sends the difference to the home and
/// announces the page to all, who then drop their copies.
///
/// The home's own writes need announcing, too, but only while somebody has a copy: a page of the home is `open`, which
/// costs nothing, until somebody fetches it. At the barrier after that the home announces it, because it may have
/// written to it, and protects it; from then on a write is noticed by its fault. A page that was written and announced
/// is open again, because nobody has a copy any more.
class Pages {
public:
    /// The order of the data at the beginning of the array's region at every rank.
    struct Layout {
        std::size_t page_bytes, pages;

        std::size_t frames() const { return page_bytes * pages; }
        /// One byte for each page of the home: whether the page has been fetched since it was opened.
        std::size_t fetched() const { return frames(); }
        /// One word: whether one of these bytes has been set since the home looked.
        std::size_t news() const { return platform::round_up(fetched() + pages, platform::apart); }
        std::size_t bytes() const { return news() + platform::apart; }
    };

    /// Where the array is at this rank.
    struct Place {
        std::byte* data;   ///< the addresses that the program uses
        std::byte* region; ///< the same memory at addresses where accesses do not fault
        std::byte* twins;  ///< memory as long as the frames, which the array then owns
    };

    /// `courier` is null when all ranks are on this host.
    Pages(fabric::Fabric& fabric, Courier* courier, std::uint32_t number, Place place, Layout layout, Homes homes,
          std::unique_ptr<platform::PageFaults> faults);
    ~Pages();
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    std::uint32_t number() const { return number_; }
    const std::byte* data() const { return data_; }
    const Layout& layout() const { return layout_; }
    const Homes& homes() const { return homes_; }
    const Counters& counters() const { return counters_; }

    /// Decides at which pages accesses fault. Must be called once, before the program gets the array.
    Result<> start();

    /// Makes the page ready for an access that faulted there. Several threads may call it at a time, even for the same
    /// page.
    void fault(std::size_t page, platform::Attempt attempt);

    // -- at a barrier; one thread calls them --

    /// Sends this rank's changes to the homes, or passes them to the courier, and adds the changed pages to `notices`.
    void release(std::vector<Notice>& notices);
    /// Drops this rank's copies of pages that another rank has changed.
    void invalidate(std::size_t first, std::size_t count);

    // -- for the courier, in the thread that receives --

    /// Called when another rank requests a page of which this rank is the home; null: it is not the home.
    const std::byte* lend(std::size_t page);
    /// Stores a page that this rank has requested. Returns false if it has not.
    bool take(std::size_t page, std::span<const std::byte> contents);
    /// Applies the differences of several pages, as release() packs them. Returns false if they do not fit this array.
    bool apply(std::span<const std::byte> packed);

private:
    enum class State : std::uint8_t {
        absent,  ///< this rank has no copy
        clean,   ///< may be read; the next write is a fault
        written, ///< written since the last barrier; has a twin, unless this rank is the home
        open,    ///< at the home: may be written, and no other rank has a copy
    };
    enum class Fetch : std::uint8_t { idle, asked, here };
    struct Page {
        std::atomic<std::uint8_t> locked;
        State state; ///< guarded by the lock
        std::atomic<Fetch> fetch;
    };
    /// Precedes the difference of each page in a message with several.
    struct Entry {
        std::uint64_t page, bytes;
    };

    bool is_home(std::size_t page) const { return homes_.of(page) == fabric_.rank(); }
    std::span<std::byte> frame(std::size_t page) const { return frame_of(region_, page); }
    std::span<std::byte> twin(std::size_t page) const { return frame_of(twins_, page); }
    std::span<std::byte> frame_of(std::byte* begin, std::size_t page) const {
        return {begin + page * layout_.page_bytes, layout_.page_bytes};
    }
    /// This array's region at a rank of this host; null if the rank is on another host.
    std::byte* region_at(int rank) const;

    void lock(Page& page);
    void unlock(Page& page);
    void change(std::size_t first, std::size_t count, platform::PageAccess from, platform::PageAccess to);
    /// For every run of pages that are `wanted`: locks them, changes them, and calls done(page) for each before it is
    /// unlocked.
    template <class Wanted, class Done>
    void change_runs(std::size_t first, std::size_t end, platform::PageAccess from, platform::PageAccess to,
                     Wanted wanted, Done done);
    void fetch(std::size_t page);
    void mark_fetched(std::byte* region, std::size_t page) const;
    void note_written(std::size_t page);
    void make_twin(std::size_t page);
    void protect_fetched(std::vector<Notice>& notices);
    void release_written(std::size_t first, std::size_t end, std::vector<Notice>& notices);
    bool send_difference(std::size_t page);
    void announce(std::size_t page, std::vector<Notice>& notices);

    fabric::Fabric& fabric_;
    Courier* courier_;
    std::uint32_t number_;
    std::byte *data_, *region_, *twins_;
    Layout layout_;
    Homes homes_;
    std::unique_ptr<platform::PageFaults> faults_;
    std::vector<Page> pages_;
    std::vector<std::atomic<std::uint64_t>> written_; ///< a bit for each page written since the last barrier
    std::atomic<bool> any_written_{false};
    std::vector<std::vector<std::byte>> packed_; ///< by rank: differences that have not been sent yet
    Counters counters_{};
};

} // namespace kumiki::dsm
