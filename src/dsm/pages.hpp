#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dsm/copy_cache.hpp"
#include "dsm/counters.hpp"
#include "dsm/early_fetches.hpp"
#include "dsm/gathered_changes.hpp"
#include "dsm/home_moves.hpp"
#include "dsm/homes.hpp"
#include "dsm/interval_accesses.hpp"
#include "dsm/notice.hpp"
#include "dsm/packed_pages.hpp"
#include "dsm/page_memory.hpp"
#include "dsm/page_set.hpp"
#include "dsm/place_order.hpp"
#include "dsm/races.hpp"
#include "dsm/update_box.hpp"
#include "dsm/word_change.hpp"
#include "explain/record.hpp"
#include "fabric/fabric.hpp"
#include "platform/fault_signals.hpp"
#include "settings/settings.hpp"

namespace kumiki::dsm {

struct Arrays;
class Courier;
class RaceCheck;

/// The pages of one shared array at one rank, where every rank has a copy of its own: home-based release consistency
/// with several writers of a page and invalidation at barriers and locks.
///
/// Every page has a home, whose copy gets everybody's changes. Another rank fetches a page when it first touches it,
/// makes a twin of it when it first writes to it, and at its next release (a barrier, or the release of a lock) sends
/// the difference to the home and announces the page; a rank that acquires that drops its copy.
///
/// The home's own writes need announcing, too, but only while somebody has a copy: a page of the home is `open`, which
/// costs nothing, until somebody fetches it. Before it is lent to another host it is protected, and from then on a
/// write is noticed by its fault. (A rank of the same host copies it, and only marks it: at the release after that the
/// home announces the page, because it may have written to it, and protects it.) A page that was written and announced
/// at a barrier is open again, because nobody has a copy any more; at a lock it is protected again.
///
/// With the protocol `update`, copies are not dropped at a barrier, but brought up to date (page_updates.cpp).
class Pages : PageMemory {
public:
    using PageMemory::Layout;
    using PageMemory::Place;

    /// `courier` is null when all ranks are on this host.
    Pages(fabric::Fabric& fabric, Courier* courier, CopyCache& cache, std::uint32_t number, Place place, Layout layout,
          Homes homes, std::unique_ptr<platform::PageFaults> faults);
    ~Pages() = default;
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
    /// Notes for the race check what this rank writes. Must be called before start(), and the layout be `checked`.
    void check(RaceCheck& check);
    /// From now on records what happens to the pages. Must be called before the program gets the array.
    void observe(const explain::PageLog& log) { log_ = log; }
    const explain::PageLog& log() const { return log_; }
    /// Chooses the protocol; must be called before start().
    void begin_with(SharedProtocol protocol) { protocol_.store(protocol, std::memory_order_relaxed); }
    /// Decides at which pages accesses fault. Must be called once, before the program gets the array. With contents,
    /// frames that are not holes in the memory's file have the same bytes at all ranks; otherwise all are zeros.
    Result<> start(bool has_contents);
    /// Opens the homes of these pages: the rank that touches one next becomes its home, and the contents stay. Must be
    /// called by all ranks, right after a barrier; nobody accesses the array before all have called it.
    void open_homes(std::size_t first, std::size_t count);

    SharedProtocol protocol() const { return protocol_.load(std::memory_order_relaxed); }
    /// Must be called by all ranks, right after a barrier; nobody accesses the array before all have called it.
    void set_protocol(SharedProtocol protocol);

    /// Makes the page ready for an access that faulted there. Several threads may call it at a time, even for the same
    /// page.
    void fault(std::size_t page, platform::Attempt attempt, Writer writer = {});

    /// Fetches the page if this rank lacks it, as a fault would.
    void bring(std::size_t page);
    /// For the cache: drops this rank's copy of the page, if it has one, after its changes have been applied at the
    /// home, and gives its memory back. Returns false if another thread uses the page at this moment.
    bool evict(std::size_t page);

    // -- at barriers and locks; one thread at a time calls them --

    /// Sends the changes since the last release to the homes, or passes them to the courier, and adds the changed pages
    /// to `notices`.
    void release(std::vector<Notice>& notices) {
        release_to(Audience::acquirer, notices);
        if (layout_.lends) review_lent(Audience::acquirer, notices, nullptr, nullptr);
    }
    /// The same at a barrier, with all pages that have changed since the last barrier, and what this rank has touched
    /// and wants, and with the changes of pages that do not fault. Nothing below `stack` on its page is of use.
    void release_to_all(Released& released, const void* stack);
    /// Brings copies of this rank up to date by the changes that a home has released, of any array; in a barrier, after
    /// all ranks have released, and before pages are dropped that others have announced. `own`: what this rank has
    /// announced. Meanwhile no other thread of a rank may use a lock.
    static void take_changes(const Arrays& arrays, std::span<const std::byte> changes, std::span<const Notice> own);
    /// At a barrier: drops this rank's copies of pages that another rank has changed.
    void invalidate(std::size_t first, std::size_t count) { invalidate(first, count, false); }
    /// At a lock: drops those, too, that this rank has written since its last release, after their changes have been
    /// applied at the homes; adds them to `notices`.
    void invalidate_at_lock(std::size_t first, std::size_t count, std::vector<Notice>& notices);

    // -- words that are changed at their home (word_changes.cpp) --

    /// The rank that may be asked to change a word of this page; until the next barrier all agree. Nothing: none.
    std::optional<int> home_for_changes(std::size_t page) const;
    /// At the home: changes the word at `offset` bytes. Returns the value before; nothing if there is no such word.
    std::optional<std::uint64_t> change_word(std::size_t offset, const WordChange& change);
    /// At the rank for which a page was changed: all will drop their copies at the next barrier.
    void announce_at_barrier(std::size_t page) { told_.add(page); }
    /// The same for a thread of this rank, which is the home and whose page keeps its protection. Whoever has a copy
    /// must get a notice.
    std::uint64_t change_own_word(std::size_t offset, const WordChange& change) {
        return change.make(region_ + offset);
    }

    /// Changes the word at `offset` bytes in this rank's copy of its page; the home gets the change with this rank's
    /// next release (gathered_changes.cpp). Returns the value before in the copy; nothing: it must be done in another
    /// way.
    std::optional<std::uint64_t> gather_change(std::size_t offset, const WordChange& change);

    // -- homes that move; inside a barrier, after all ranks have released and exchanged their notices --

    /// The array is about to be released. From now on this rank neither brings changes of it home nor drops copies, and
    /// no page that it has requested is under way. It still lends pages, and applies differences, because other ranks
    /// may not have come so far.
    void retire() {
        retired_ = true;
        settle_all();
    }
    bool is_retired() const { return retired_; }

    /// What the ranks have to do together: fetch_moved(), and then meet; or meet after finish_moves(), when the
    /// courier's differences have been applied.
    using Moving = HomeMoves::Together;
    /// Decides homes by what all ranks have told, by rank. All ranks decide the same.
    Moving learn(std::span<const std::vector<Notice>> told);
    /// With the protocol `update`, instead of invalidate(), after learn(): sends the pages of this home that have
    /// changed to the ranks that have copies, and finds out which contents this rank must wait for.
    void send_updates(std::uint64_t barrier);
    /// Waits for them.
    void await_updates(std::uint64_t barrier);
    /// Fetches pages whose home this rank becomes, and of which it has no up-to-date copy.
    void fetch_moved();
    /// From now on the homes are in force. `ends_alone`: see SharedMemory::Meeting.
    void finish_moves(bool ends_alone);

    // -- for an interval that begins at a place of the program (page_prefetches.cpp, early_pages.cpp) --

    /// In a barrier, when this rank has released: requests the pages that it will probably need after it.
    void request_early(Visit visit, std::uint64_t barrier);
    /// This rank has learned of changes that may be missing in those.
    void forget_early() { early_.forget(); }

    /// Requests the pages that this rank is expected to need in the interval; it ends at the next barrier.
    void expect(Visit visit);
    /// Waits for them, and lets the program access them; so it does for pages that it is expected to write.
    void open_expected();

    /// What has changed a page of this rank last.
    struct Origin {
        std::uint64_t message; ///< its number (Courier::changes); 0: none has
        bool unreleased;       ///< as of lend_copy()
    };
    Origin origin(std::size_t page) const {
        const std::uint64_t origin = pages_[page].origin.load(std::memory_order_acquire);
        return {origin >> 1, (origin & 1) != 0};
    }

    /// What the home had written to the page before that message, it has released since.
    void note_release(std::size_t page, std::uint64_t message) {
        std::uint64_t unreleased = message << 1 | 1;
        pages_[page].origin.compare_exchange_strong(unreleased, message << 1, std::memory_order_relaxed);
    }

    // -- pages that come with a lock (Locks::acquire) --

    /// Whether its home, rank `home`, may send this page with a lock that it manages.
    bool may_come(std::size_t page, int home) const {
        return page < layout_.pages && homes_.of(page) == home && !homes_.is_open(page) && expects();
    }
    /// Stores a page that has come so, if this rank has dropped its copy, and has not fetched it since.
    void store(std::size_t page, std::span<const std::byte> contents, Origin origin);

    // -- for the courier, in the thread that receives --

    bool has(const PageRun& run) const {
        return run.count != 0 && run.first < layout_.pages && run.count <= layout_.pages - run.first;
    }
    /// Must be called before lend_copy() or lend_early() lends these pages, which there must be.
    void protect_open(const PageRun& run);
    /// Called when another rank requests pages. This rank may not have left the barrier yet that made it their home.
    /// Null: there are no such pages.
    const std::byte* lend(std::size_t first, std::size_t count, int rank);
    /// Whether it is always lend_copy() that lends so many pages.
    bool lends_copies(std::size_t count) const { return layout_.lends && count <= most_lent; }
    /// Copies a page, which there must be, for another rank. Returns whether this home may have written to it since its
    /// last release.
    bool lend_copy(std::size_t page, int rank, std::byte* into);
    /// Copies a page out of a run of so many for another rank, which has requested it ahead of a barrier that this rank
    /// is leaving. Returns false if it is not the page's home.
    bool lend_early(std::size_t page, std::size_t run, int rank, std::byte* into);
    /// Stores pages that this rank has requested. Returns false if it has not.
    bool take(std::size_t first, std::span<const std::byte> contents, Origin origin);
    /// Stores the home of a page, which this rank has asked for. Returns false if it has not.
    bool take_home(std::size_t page, std::uint64_t home);
    /// At the manager: the home of a page that `rank` has touched; -1: there is no such page.
    int home_for(std::size_t page, int rank);
    /// Applies the differences of several pages, as release() packs them. Returns false if they do not fit this array.
    bool apply(std::span<const std::byte> packed, Origin origin);
    /// Keeps what a home has sent at this barrier until await_updates(). Returns false if it does not fit this array.
    bool take_update(int source, std::uint64_t barrier, std::span<const std::byte> packed);
    /// Keeps what a home has sent after this barrier until the interval begins. Returns false if it does not fit.
    bool take_early(int source, std::uint64_t barrier, std::span<const std::byte> packed);
    /// These pages, of 8 bytes each, are no longer held by that rank. Returns false if there are no such pages.
    bool forget_holder(int rank, std::span<const std::byte> pages);

private:
    using Fetch = PageRecord::Fetch;

    /// The most bytes that a fault fetches: enough for the signal and the request not to count.
    static constexpr std::size_t longest_fetch = std::size_t{1} << 20;

    /// Shorter runs are requested together: their copies into one message cost less than a message each.
    static constexpr std::size_t most_gathered = 8;

    /// With more pages than this a request is one for much memory that is read in order, and would leave no place.
    static constexpr std::size_t most_lent = 4;

    bool is_home(std::size_t page) const { return homes_.of(page) == fabric_.rank(); }
    /// May be read, and the next write is a fault.
    bool is_protected(std::size_t page) const {
        return pages_[page].state == State::clean || pages_[page].state == State::lent;
    }
    bool is_copy(std::size_t page) const {
        return pages_[page].state == State::clean || pages_[page].state == State::parked;
    }
    bool is_open_to_touch(std::size_t page) const {
        return homes_.may_move() && homes_.placement() != Placement::managed && homes_.is_open(page);
    }
    void note_fetched(std::size_t page, std::span<const std::byte> now) const {
        if (log_) [[unlikely]]
            log_.fetched(page * layout_.page_bytes, frame(page), now);
    }
    Window window(const FaultRuns& runs, std::size_t page, FaultRuns::Growth growth = FaultRuns::Growth::fast) const;
    Window write_window(std::size_t page) const;
    template <class Suits>
    Window lock_window(std::size_t page, const Window& window, int home, Suits suits);
    void fetch_ahead(std::size_t page, State from, bool writes);
    void request_beyond(std::size_t last, bool ascends);
    void leave_requested(PageRun run);
    void settle(std::size_t page);
    void settle_all();
    void begin_run(std::size_t page);
    void make_room(std::size_t first, std::size_t count);
    void fetch(std::size_t first, std::size_t count);
    bool begin_fetch(std::size_t first, std::size_t count);
    void request(std::size_t first, std::size_t count);
    void await(std::size_t first, std::size_t count);
    bool expects() const { return check_ == nullptr && !cache_.is_bounded() && !keeps_copies(); }
    bool keeps_copies() const { return protocol() == SharedProtocol::update; }
    bool claim_absent(std::size_t page);
    void search_expectation(std::size_t page);
    /// Whether pages that have been requested ahead of the barrier need no other request.
    enum class Ahead : std::uint8_t { counts, does_not };
    std::vector<PageRun> request_absent(const AccessHistory::PageList& pages, Ahead ahead);
    void await_early();
    void store_early(std::size_t page, int source, std::span<const std::byte> contents);
    void open(const AccessHistory::Accesses& expected, const std::vector<PageRun>& requested);
    void open_fetched(const PageRun& run, std::span<const std::size_t>& written);
    void without_places(std::byte* region, std::size_t first, std::size_t count) const;
    bool copy_lent(std::byte* region, std::size_t page, std::byte* into) const;
    bool is_unreleased(std::size_t page);
    /// Before the change.
    void note_change(std::size_t page, Origin origin) {
        pages_[page].origin.store(origin.message << 1 | (origin.unreleased ? 1 : 0), std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
    }
    void note_copies(std::byte* region, std::size_t first, std::size_t count, int rank) const;
    void invalidate(std::size_t first, std::size_t count, bool at_lock);
    void invalidate_written(std::size_t first, std::size_t count, std::vector<Notice>& notices);
    void make_twin(std::size_t page);
    void begin_to_write(std::size_t page);
    void begin_to_write(std::size_t page, const Window& window);
    void note_dropped(std::size_t page);
    /// Which ranks get the notices of a release.
    enum class Audience : std::uint8_t { acquirer, all };
    void release_to(Audience audience, std::vector<Notice>& notices);
    void review_lent(Audience audience, std::vector<Notice>& notices, std::vector<std::byte>* changes,
                     const void* stack);
    void take_change(std::size_t page, std::size_t skipped, std::span<const std::byte> difference);
    void protect_fetched(Audience audience, std::vector<Notice>& notices);
    void protect_fetched(std::size_t first, std::size_t end, Audience audience, std::vector<Notice>& notices);
    void release_written(std::size_t first, std::size_t end, Audience audience, std::vector<Notice>& notices);
    template <class Written>
    void release_own(std::size_t first, std::size_t end, Written is_written, Audience audience,
                     std::vector<Notice>& notices);
    bool send_difference(std::size_t page) {
        return send_difference(page, packed_[static_cast<std::size_t>(homes_.of(page))]);
    }
    bool send_difference(std::size_t page, std::vector<std::byte>& packed);
    std::optional<std::uint64_t> change_copy(std::size_t offset, const WordChange& change);
    void send_gathered(std::size_t page, std::span<const PlacedChange> changes, std::vector<std::byte>& packed);
    bool apply_gathered(std::size_t page, std::span<const std::byte> packed);
    void send_packed(Audience audience);

    // -- for the race check (checked_pages.cpp) --

    Result<> start_checked();
    void make_open_twins();
    HomeGuard& home_guard(std::byte* region, std::size_t page) const;
    std::span<std::uint64_t> overwritten(std::byte* region, std::size_t page) const;
    void make_home_twin(std::size_t page);
    bool merge(std::byte* region, std::size_t page, std::span<const std::byte> difference) const;
    void note_written(std::size_t page);
    void note_written_at_home(std::size_t page);
    void note_open_pages();

    Result<> start_by_touch();
    Result<> start_with_open_homes();
    bool find_touched();
    void follow();
    void track();
    void look_at_untracked(Audience audience);
    void note_touch(std::size_t page);
    void add_requests(std::size_t begin, std::vector<Notice>& notices);
    void append(Notice::Kind kind, std::size_t page, std::vector<Notice>& notices) const;
    void finish(const HomeMoves::Move& move);
    void drop_untouched();
    int ask_manager(std::size_t page);
    int give_home(std::byte* region, std::size_t page, int rank) const;
    void forget_holders(std::size_t page);
    void send_update(std::size_t page, std::uint64_t barrier);
    void send_updates_to(int rank, std::uint64_t barrier);
    std::span<const std::byte> contents_for_holders(std::size_t page);
    void open_again(std::size_t page);
    void update_copy(std::size_t page);
    void count_update(std::size_t bytes);
    void store(const UpdateBox::Update& update, std::uint64_t barrier);
    void park();

    void announce(std::size_t page, Audience audience, std::vector<Notice>& notices);

    Courier* courier_;
    CopyCache& cache_;
    std::uint32_t number_;
    Homes homes_;
    IntervalAccesses accesses_;
    PageSet unawaited_;                                    ///< those that were left `requested`, since the last barrier
    const AccessHistory::Accesses* expectation_ = nullptr; ///< by expect(), until open_expected()
    std::vector<PageRun> requested_;                       ///< by expect(); this thread has locked them
    EarlyFetches early_;
    std::size_t early_missing_ = 0; ///< pages that are Fetch::early
    bool keeps_open_ = false, retired_ = false;
    PageSet written_; ///< since the last release
    GatheredChanges gathered_;
    PageSet evicted_; ///< of the written ones; their changes are at the homes, and not announced yet
    PageSet told_;    ///< announced to some ranks since the last barrier
    PageSet touched_; ///< of pages whose homes are open, since the last barrier
    /// False: nothing faults, and find_touched() tells what this rank has touched.
    std::atomic<bool> tracked_{true};
    HomeMoves moves_;                            ///< of the present barrier
    std::vector<std::vector<std::byte>> packed_; ///< by rank: differences or updates that have not been sent yet
    std::atomic<SharedProtocol> protocol_{SharedProtocol::invalidate};
    PageSet changed_;          ///< announced by anybody at the present barrier, with the protocol `update`
    UpdateBox box_;            ///< updates that have come
    std::size_t expected_ = 0; ///< pages that must still come
    std::vector<std::size_t> parking_;
    std::vector<std::vector<std::uint64_t>> unwanted_;      ///< by home: pages of which this rank has no copy
    std::vector<std::byte> snapshot_, snapshot_difference_; ///< of contents_for_holders()
    Counters counters_{};
    explain::PageLog log_;              ///< empty: none
    RaceCheck* check_ = nullptr;        ///< null: none
    std::vector<Writer> first_writers_; ///< by page: in its last interval with writes; guarded by the page's lock
};

} // namespace kumiki::dsm
