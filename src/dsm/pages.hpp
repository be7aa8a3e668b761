#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dsm/counters.hpp"
#include "dsm/homes.hpp"
#include "dsm/notice.hpp"
#include "dsm/page_set.hpp"
#include "dsm/read_ahead.hpp"
#include "fabric/fabric.hpp"
#include "platform/fault_signals.hpp"
#include "platform/page_faults.hpp"

namespace kumiki::dsm {

class Courier;

/// The pages of one shared array at one rank, where every rank has a copy of its own: home-based release consistency
/// with several writers of a page and invalidation at barriers and locks.
///
/// Every page has a home, whose copy gets everybody's changes. Another rank fetches a page when it first touches it,
/// makes a twin of it when it first writes to it, and at its next release (a barrier, or the release of a lock) sends
/// the difference to the home and announces the page; who acquires that drops its copy.
///
/// The home's own writes need announcing, too, but only while somebody has a copy: a page of the home is `open`, which
/// costs nothing, until somebody fetches it. At the release after that the home announces it, because it may have
/// written to it, and protects it; from then on a write is noticed by its fault. A page that was written and announced
/// at a barrier is open again, because nobody has a copy any more; at a lock it is protected again.
class Pages {
public:
    /// The order of the data at the beginning of the array's region at every rank.
    struct Layout {
        std::size_t page_bytes, pages;

        std::size_t frames() const { return page_bytes * pages; }
        /// One byte for each page of the home: whether the page has been fetched since it was opened.
        std::size_t fetched() const { return frames(); }
        /// One byte for each block of pages: whether one of these bytes has been set since the home looked.
        static constexpr std::size_t block = 512;
        std::size_t fetched_blocks() const { return fetched() + pages; }
        std::size_t blocks() const { return (pages + block - 1) / block; }
        /// One word: the same for all.
        std::size_t news() const { return platform::round_up(fetched_blocks() + blocks(), platform::apart); }
        /// At the manager of homes: a word for each page: 0, or its home + 1.
        std::size_t given() const { return news() + platform::apart; }
        std::size_t bytes() const { return given() + pages * sizeof(std::uint32_t); }
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

    /// This rank's own pages never fault: at each release, all of them that others have fetched since the last one are
    /// announced, as if they had been written. For memory that the kernel uses, such as stacks. Must be called before
    /// start().
    void keep_open() { keeps_open_ = true; }
    bool keeps_open() const { return keeps_open_; }
    /// Decides at which pages accesses fault. Must be called once, before the program gets the array.
    Result<> start();
    /// Opens the homes of these pages: the rank that touches one next becomes its home, and the contents stay. Must be
    /// called by all ranks, right after a barrier; nobody accesses the array before all have called it.
    void open_homes(std::size_t first, std::size_t count);

    /// Makes the page ready for an access that faulted there. Several threads may call it at a time, even for the same
    /// page.
    void fault(std::size_t page, platform::Attempt attempt);

    // -- at barriers and locks; one thread at a time calls them --

    /// Sends the changes since the last release to the homes, or passes them to the courier, and adds the changed pages
    /// to `notices`.
    void release(std::vector<Notice>& notices) { release_to(Audience::acquirer, notices); }
    /// The same at a barrier, with all pages that have changed since the last barrier.
    /// Besides, adds what this rank has touched and wants.
    void release_to_all(std::vector<Notice>& notices);
    /// Drops this rank's copies of pages that another rank has changed, except those that this rank has written since
    /// its last release.
    void invalidate(std::size_t first, std::size_t count);
    /// Drops those, too, after their changes have been applied at the homes; adds them to `notices`. Must follow
    /// invalidate(): in this order no copy escapes that another thread begins to write meanwhile.
    void invalidate_written(std::size_t first, std::size_t count, std::vector<Notice>& notices);

    // -- homes that move; inside a barrier, after all ranks have released and exchanged their notices --

    /// What the ranks have to do together.
    struct Moving {
        bool fetches = false; ///< fetch_moved(), and then meet
        bool collide = false; ///< meet after finish_moves(), when the courier's differences have been applied
    };
    /// Decides homes by what all ranks have told, by rank. All ranks decide the same.
    Moving plan_moves(std::span<const std::vector<Notice>> told);
    /// Fetches pages whose home this rank becomes, and of which it has no up-to-date copy.
    void fetch_moved();
    /// From now on the homes are in force.
    void finish_moves();

    // -- for the courier, in the thread that receives --

    /// Called when another rank requests pages. This rank may not have left the barrier yet that made it their home.
    /// Null: there are no such pages.
    const std::byte* lend(std::size_t first, std::size_t count);
    /// Stores pages that this rank has requested. Returns false if it has not.
    bool take(std::size_t first, std::span<const std::byte> contents);
    /// Stores the home of a page, which this rank has asked for. Returns false if it has not.
    bool take_home(std::size_t page, std::uint64_t home);
    /// At the manager: the home of a page that `rank` has touched; -1: there is no such page.
    int home_for(std::size_t page, int rank);
    /// Applies the differences of several pages, as release() packs them. Returns false if they do not fit this array.
    bool apply(std::span<const std::byte> packed);

private:
    enum class State : std::uint8_t {
        absent,    ///< this rank has no copy
        clean,     ///< may be read; the next write is a fault
        written,   ///< written since the last release; has a twin, unless this rank is the home
        open,      ///< at the home: may be written, and no other rank has a copy
        untouched, ///< as far as this rank knows nobody has written to it: its frame has zeros
        touched,   ///< the same, but this rank has since its last release, perhaps; its twin is zeros
    };
    enum class Fetch : std::uint8_t { idle, asked, here };
    struct Page {
        std::atomic<std::uint8_t> locked;
        State state; ///< guarded by the lock
        std::atomic<Fetch> fetch;
        std::uint8_t streak; ///< intervals in which this rank has written, and others have not (relocated)
    };
    struct Move {
        std::size_t first, count;
        int from, to;
        bool fetch; ///< the new home has no up-to-date copy
        bool follows(const Move& before) const {
            return first == before.first + before.count && from == before.from && to == before.to &&
                   fetch == before.fetch;
        }
    };
    /// What has been told about a page at a barrier.
    struct Said {
        std::uint32_t round;      ///< of plan_moves(); the rest is void if it is not the present one
        std::uint16_t changed_by; ///< rank + 1; 0: nobody
        bool changed_by_several, moved;
    };
    /// Precedes the difference of each page in a message with several.
    struct Entry {
        std::uint64_t page, bytes;
    };

    /// The most bytes that a fault fetches: enough for the signal and the request not to count.
    static constexpr std::size_t longest_fetch = std::size_t{1} << 20;

    bool is_home(std::size_t page) const { return homes_.of(page) == fabric_.rank(); }
    bool is_open_to_touch(std::size_t page) const {
        return homes_.may_move() && homes_.placement() != Placement::managed && homes_.is_open(page);
    }
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
                     Wanted wanted, Done done) {
        change_runs(first, end, from, to, wanted, done, [] {});
    }
    /// The same; calls settle() for each run before it is unlocked.
    template <class Wanted, class Done, class Settle>
    void change_runs(std::size_t first, std::size_t end, platform::PageAccess from, platform::PageAccess to,
                     Wanted wanted, Done done, Settle settle);
    void fetch_ahead(std::size_t page, bool writes);
    void fetch(std::size_t first, std::size_t count);
    void mark_fetched(std::byte* region, std::size_t first, std::size_t count) const;
    std::atomic_ref<std::uint8_t> fetched(std::byte* region, std::size_t page) const {
        return std::atomic_ref(reinterpret_cast<std::uint8_t&>(region[layout_.fetched() + page]));
    }
    void make_twin(std::size_t page);
    /// Which ranks get the notices of a release.
    enum class Audience : std::uint8_t { acquirer, all };
    void release_to(Audience audience, std::vector<Notice>& notices);
    void protect_fetched(Audience audience, std::vector<Notice>& notices);
    void protect_fetched(std::size_t first, std::size_t end, Audience audience, std::vector<Notice>& notices);
    void release_written(std::size_t first, std::size_t end, Audience audience, std::vector<Notice>& notices);
    bool send_difference(std::size_t page);
    void send_packed();

    Result<> start_by_touch();
    template <class Each>
    void find_data(Each each) const;
    bool find_touched();
    void follow();
    void track();
    void look_at_untracked(Audience audience);
    void note_touch(std::size_t page);
    void add_requests(std::size_t begin, std::vector<Notice>& notices);
    void append(Notice::Kind kind, std::size_t page, std::vector<Notice>& notices) const;
    Said& said(std::size_t page);
    void note_changes(std::span<const std::vector<Notice>> told);
    void move(std::size_t page, int to, bool fetch);
    void finish(const Move& move);
    void drop_untouched();
    int ask_manager(std::size_t page);
    int give_home(std::byte* region, std::size_t page, int rank) const;
    [[noreturn]] void give_up(const Failure& failure) const;
    void announce(std::size_t page, Audience audience, std::vector<Notice>& notices);

    fabric::Fabric& fabric_;
    Courier* courier_;
    std::uint32_t number_;
    std::byte *data_, *region_, *twins_;
    Layout layout_;
    Homes homes_;
    std::unique_ptr<platform::PageFaults> faults_;
    std::vector<Page> pages_;
    ReadAhead read_ahead_;
    bool keeps_open_ = false;
    PageSet written_;               ///< since the last release
    PageSet told_;                  ///< announced to some ranks since the last barrier
    PageSet touched_;               ///< of pages whose homes are open, since the last barrier
    bool tracked_ = true;           ///< false: nothing faults, and find_touched() tells what this rank has touched
    std::vector<Move> moves_;       ///< of the present barrier
    std::vector<std::size_t> lost_; ///< pages that this rank has touched, too
    std::vector<Said> said_;
    std::uint32_t round_ = 0;
    std::vector<std::vector<std::byte>> packed_; ///< by rank: differences that have not been sent yet
    Counters counters_{};
};

template <class Wanted, class Done, class Settle>
void Pages::change_runs(std::size_t first, std::size_t end, platform::PageAccess from, platform::PageAccess to,
                        Wanted wanted, Done done, Settle settle) {
    const auto claim = [&](std::size_t page) {
        lock(pages_[page]);
        if (wanted(page)) return true;
        unlock(pages_[page]);
        return false;
    };
    for (std::size_t page = first; page < end; ++page) {
        if (!claim(page)) continue;
        const std::size_t begin = page++;
        while (page < end && claim(page)) ++page;
        change(begin, page - begin, from, to);
        for (std::size_t each = begin; each < page; ++each) done(each);
        settle();
        for (std::size_t each = begin; each < page; ++each) unlock(pages_[each]);
    }
}

} // namespace kumiki::dsm
