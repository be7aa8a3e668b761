#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "dsm/courier.hpp"
#include "dsm/history.hpp"
#include "dsm/notice.hpp"
#include "dsm/page_name.hpp"
#include "dsm/pages.hpp"
#include "dsm/place_order.hpp"
#include "dsm/race_check.hpp"
#include "dsm/shared_heap.hpp"
#include "dsm/turn.hpp"
#include "dsm/word_change.hpp"
#include "dsm/written_words.hpp"

namespace kumiki::dsm {

/// What a rank does with its copies of all arrays when it releases and acquires. All threads of the rank share these
/// copies, and one thread at a time does this: a thread that finds nothing left to release must not continue before
/// another one has finished releasing what it wrote, and a thread for which a notice is no news must not continue
/// before the copies that it names have been dropped.
class Consistency {
public:
    /// `courier` is null when all ranks are on this host, `check` where there is no race check.
    Consistency(fabric::Fabric& fabric, const Arrays& arrays, Courier* courier, RaceCheck* check)
        : arrays_(arrays),
          courier_(courier),
          check_(check),
          history_(fabric.size(), fabric.rank()),
          turn_(fabric, busy_) {}

    /// From now on, what this rank has freed returns to its owners at the end of an interval.
    void serve(SharedHeap& heap) { heap_ = &heap; }

    /// Ends an interval at a lock: when it returns, everything that this rank has written is at the homes and in its
    /// history. Calls pass(history), which gives what the manager of the lock lacks of it to that manager, before
    /// another thread of this rank can give it more.
    template <class Pass>
    void release(Pass pass) {
        const std::lock_guard turn(turn_);
        giving_back([this] { publish(); });
        pass(history_);
    }
    /// Reads notices: calls read(history, news), which appends them and returns false if some are missing, and drops
    /// the copies of their pages.
    template <class Read>
    void acquire(Read read) {
        const std::lock_guard turn(turn_);
        take_in(read);
    }
    /// A page that the manager of a lock has sent with its answer.
    struct SentPage {
        PageName name;
        std::span<const std::byte> contents;
        Pages::Origin origin;
        std::uint64_t step; ///< of this rank, when it asked (History::steps)
    };
    /// The same, and then stores the page, if this rank has dropped its copy; unless another thread of it has released
    /// or acquired anything since it asked: then what the page was sent with may lack what that one did.
    template <class Read>
    void acquire(Read read, const SentPage& sent) {
        const std::lock_guard turn(turn_);
        const bool is_next = history_.steps() == sent.step;
        const std::vector<Notice> own = take_in(read);
        if (is_next) store(sent, own);
    }
    /// Whether the manager of a lock, which is on another host, may send this page with its answer.
    bool may_come(const PageName& page, int manager) const;
    /// At the manager: a copy of the page for this rank, if it is among these news.
    struct LentPage {
        std::vector<std::byte> contents; ///< empty: none
        bool unreleased = false;         ///< see Pages::lend_copy
    };
    LentPage lend(const PageName& page, int rank, std::span<const Told> news) const;
    /// In the thread that receives: the number of a message that brings a page (Courier::changes).
    std::uint64_t number_change() { return courier_->number_change(); }
    /// Calls each(history).
    template <class Each>
    void with_history(Each each) {
        const std::lock_guard turn(turn_);
        each(history_);
    }

    /// The array is about to be released (Pages::retire). When other threads of this rank release what they have
    /// written, or drop what others have, they leave it out.
    void retire(Pages& array) {
        const std::lock_guard turn(turn_);
        array.retire();
    }
    /// Calls forget(), after which no array has this number any more.
    template <class Forget>
    void forget(Forget forget) {
        const std::lock_guard turn(turn_);
        forget();
    }

    struct Changed {
        std::uint64_t before;
        Notice notice;
    };
    /// Changes a word of this home for another rank. Returns nothing if there is no such word. Does not wait.
    std::optional<Changed> change_word(const WordRequest& request) const;

    /// Ends an interval at a barrier: returns what this rank has written since the last barrier. If there is anything,
    /// all ranks will know by `words` when they have left the barrier; null: it is exchanged anyway. Nothing below
    /// `stack` on its page is of use.
    Released release_to_all(std::uint64_t barrier, WrittenWords* words, const void* stack);
    /// After that, where barriers are exchanges between hosts: requests what this rank will probably need after the
    /// barrier, which the homes then send at once (answer_early).
    void request_early(std::uint64_t barrier);
    /// This rank leaves the barrier: sends what others have requested so.
    void answer_early(std::uint64_t barrier) const {
        if (courier_ != nullptr) courier_->answer_early(barrier);
    }
    /// Brings copies up to date by what their homes have told at the barrier, by rank. `own`: what this rank has
    /// announced.
    void take_changes(std::span<const std::span<const std::byte>> told, std::span<const Notice> own);
    /// Drops the copies of the pages that others have announced at the barrier, or brings them up to date, and decides
    /// homes. `told`: by rank. Must follow take_changes(): some of these changes are void for copies that are dropped.
    Pages::Moving acquire_from_all(std::uint64_t barrier, std::span<const std::vector<Notice>> told);
    /// An interval begins at a place of the program, after a barrier; 0: unknown. Fetches what this rank is expected to
    /// need in it (AccessHistory).
    void begin_interval(std::uint64_t place);
    /// What follows if acquire_from_all() says so (Pages).
    void fetch_moved();
    void finish_moves(bool ends_alone);

private:
    /// Calls end(), which brings what this rank has written to its homes. What was freed before may return after that.
    /// That a network has failed, which is the only mistake there can be, ends the job anyway.
    template <class End>
    void giving_back(End end) {
        const SharedHeap::Freed freed = heap_ == nullptr ? SharedHeap::Freed{} : heap_->take_freed();
        end();
        // What orders the next user of a block after this rank, the race check cannot see; there blocks do not return.
        if (!freed.empty() && check_ == nullptr) static_cast<void>(heap_->give_back(freed));
    }
    void publish();
    template <class Read>
    std::vector<Notice> take_in(Read read) {
        std::vector<Told> news;
        const bool complete = read(history_, news);
        return apply(news, complete);
    }
    std::vector<Notice> apply(std::span<const Told> news, bool complete);
    void store(const SentPage& sent, std::span<const Notice> own);
    void invalidate(const Notice& notice, std::vector<Notice>& own);
    void forget_early();

    const Arrays& arrays_;
    Courier* courier_;
    RaceCheck* check_;
    SharedHeap* heap_ = nullptr; ///< null: there is none
    History history_;
    PlaceOrder places_;
    std::atomic<std::uint8_t> busy_{0};
    Turn turn_;
};

} // namespace kumiki::dsm
