// Fetching pages from their homes, and lending them to other ranks.
#include <cstring>

#include "dsm/courier.hpp"
#include "dsm/pages.hpp"
#include "dsm/turn.hpp"
#include "platform/unordered_reads.hpp"

namespace kumiki::dsm {

using platform::KernelAccess;
using platform::PageAccess;

/// What a fault at this page should make ready.
Window Pages::window(const FaultRuns& runs, std::size_t number, FaultRuns::Growth growth) const {
    const std::size_t bytes = cache_.is_bounded() ? std::min(longest_fetch, cache_.longest_fetch()) : longest_fetch;
    return runs.window(number, std::max<std::size_t>(bytes / layout_.page_bytes, 1), growth);
}

/// Locks the pages of a window from this one on, which the thread has locked: those that suit and have this home, up to
/// the first other one, or one that another thread has locked. Returns what it has locked.
template <class Suits>
Window Pages::lock_window(std::size_t number, const Window& window, int home, Suits suits) {
    std::size_t count = 1;
    for (; count < window.count; ++count) {
        const std::size_t page = window.ascends ? number + count : number - count;
        if (homes_.of(page) != home || homes_.is_open(page) || !Turn(fabric_, pages_[page].locked).try_lock()) break;
        if (suits(page)) continue;
        unlock(pages_[page]);
        break;
    }
    return {count, window.ascends, window.is_known};
}

/// Makes the page, which the thread has locked, ready, and in a sequential run of faults also pages beside it: all are
/// in this state, `absent` or `requested`. If the run is one of writes, they may be written at once.
void Pages::fetch_ahead(std::size_t number, State from, bool writes) {
    const bool in_a_run = accesses_.missed().goes_on(number);
    const Window window = lock_window(number, this->window(accesses_.missed(), number), homes_.of(number),
                                      [&](std::size_t page) { return pages_[page].state == from; });
    const PageRun run = window.from(number);
    if (from == State::absent) {
        if (cache_.is_bounded()) make_room(run.first, run.count);
        request(run.first, run.count);
    }
    accesses_.missed().add(number, window);
    if (in_a_run) request_beyond(window.last_from(number), window.ascends);
    await(run.first, run.count);
    for (std::size_t each = run.first; each < run.first + run.count; ++each) {
        pages_[each].idle = 0;
        pages_[each].state = State::clean;
    }
    Window written{0, window.ascends};
    if (writes) {
        const Window wanted = write_window(number);
        written.count = wanted.ascends == window.ascends ? std::min(wanted.count, window.count) : 1;
        begin_to_write(number, written);
        change(written.from(number).first, written.count, PageAccess::none, PageAccess::write);
    }
    if (written.count < window.count) {
        const std::size_t first = window.ascends ? run.first + written.count : run.first;
        change(first, window.count - written.count, PageAccess::none, PageAccess::read);
    }
    for (std::size_t each = run.first; each < run.first + run.count; ++each)
        if (each != number) Turn(fabric_, pages_[each].locked).unlock_quietly();
}

/// Requests the window beyond one that a fault makes ready, whose last page the thread has locked, so that it comes
/// while the program reads that one. The next fault awaits it.
void Pages::request_beyond(std::size_t last, bool ascends) {
    if (last == (ascends ? layout_.pages - 1 : 0) || !expects()) return;
    const int home = homes_.of(last);
    if (region_at(home) != nullptr) return; // nothing is gained
    Window beyond = window(accesses_.missed(), ascends ? last + 1 : last - 1);
    if (beyond.ascends != ascends) return;
    ++beyond.count; // with the last page
    beyond = lock_window(last, beyond, home, [this](std::size_t page) { return pages_[page].state == State::absent; });
    if (--beyond.count == 0) return;
    const PageRun run = beyond.from(ascends ? last + 1 : last - 1);
    request(run.first, run.count);
    leave_requested(run);
}

/// Pages that this thread has locked and requested. The first access to one awaits it. For threads that wait for them
/// the caller rings, as after Turn::unlock_quietly().
void Pages::leave_requested(PageRun run) {
    for (std::size_t page = run.first; page < run.first + run.count; ++page) {
        pages_[page].state = State::requested;
        unawaited_.add(page);
        Turn(fabric_, pages_[page].locked).unlock_quietly();
    }
}

/// Awaits a page that this thread has locked, if it is `requested`.
void Pages::settle(std::size_t page) {
    if (pages_[page].state != State::requested) return;
    await(page, 1);
    pages_[page].state = State::parked;
}

/// Afterwards nothing is under way to this rank that no thread waits for.
void Pages::settle_all() {
    bool any = false;
    unawaited_.take_runs([&](std::size_t begin, std::size_t end) {
        any = true;
        for (std::size_t page = begin; page < end; ++page) {
            lock(pages_[page]);
            settle(page);
            Turn(fabric_, pages_[page].locked).unlock_quietly();
        }
    });
    if (any) fabric_.progress().ring(fabric_.rank());
}

/// What a write to this page should make ready for writes. A page of the home that is made ready for nothing is
/// announced, and ranks that have a copy must fetch it again; one of another home costs its comparison only. The race
/// check must see the first write of each page, and a record those of the home, which nothing else tells.
Window Pages::write_window(std::size_t number) const {
    const bool sees_each = check_ != nullptr || (log_ && is_home(number));
    const auto growth = is_home(number) ? FaultRuns::Growth::slow : FaultRuns::Growth::fast;
    return sees_each ? Window{1, true} : window(accesses_.noticed(), number, growth);
}

/// The program writes to a page that is protected and that the thread has locked. In a sequential run of such writes
/// copies beside it may be written from now on, too; those that are not cost a twin and a comparison.
void Pages::begin_run(std::size_t number) {
    const Window window = lock_window(number, write_window(number), homes_.of(number),
                                      [this](std::size_t page) { return is_protected(page); });
    const PageRun run = window.from(number);
    begin_to_write(number, window);
    change(run.first, run.count, PageAccess::read, PageAccess::write);
    for (std::size_t each = run.first; each < run.first + run.count; ++each)
        if (each != number) unlock(pages_[each]);
}

/// Pages that are protected, from one on that has faulted.
void Pages::begin_to_write(std::size_t number, const Window& window) {
    const PageRun run = window.from(number);
    for (std::size_t page = run.first; page < run.first + run.count; ++page) begin_to_write(page);
    accesses_.noticed().add(number, window);
}

/// At the home, before another rank gets these pages: from now on a write to an open one is noticed, so that the next
/// release does not announce it, and the other rank does not drop its copy, though nobody has written. What this home
/// has written so far is in that copy. A page with a mark stays open, because somebody may have a copy from before one
/// of these writes; and one that another thread has locked, for which its mark must do. A rank of this host that marks
/// the page meanwhile is seen, or copies it when it is protected: the fence is that of mark_fetched(). While the kernel
/// may write to memory of the program, pages stay open, too.
void Pages::protect_open(const PageRun& run) {
    if (keeps_open_ || layout_.lends || keeps_copies() || check_ != nullptr || KernelAccess::any_writes()) return;
    const std::size_t end = run.first + run.count;
    const auto is_marked = [this](std::size_t page) {
        return fetched(region_, page).load(std::memory_order_relaxed) != 0;
    };
    const auto claim = [&](std::size_t page) {
        Turn turn(fabric_, pages_[page].locked);
        if (!turn.try_lock()) return false;
        if (pages_[page].state == State::open && !is_marked(page)) return true;
        turn.unlock();
        return false;
    };
    for (std::size_t page = run.first; page < end; ++page) {
        if (!claim(page)) continue;
        const std::size_t begin = page++;
        while (page < end && claim(page)) ++page;
        change(begin, page - begin, PageAccess::write, PageAccess::read);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        const bool comes_too_late = KernelAccess::any_writes();
        for (std::size_t each = begin; each < page; ++each) {
            if (comes_too_late || is_marked(each)) change(each, 1, PageAccess::read, PageAccess::write);
            else pages_[each].state = State::lent;
            unlock(pages_[each]);
        }
    }
}

/// Copies a page that a home lends. It must have been marked. Returns whether the home may have written to it since its
/// last release.
bool Pages::copy_lent(std::byte* region, std::size_t page, std::byte* into) const {
    const auto there = std::span(region + page * layout_.page_bytes, layout_.page_bytes);
    const auto lending = lent(region).lend(page, there, into);
    if (lending != LentPages::Lending::no_place) return lending != LentPages::Lending::same;
    without_places(region, page, 1);
    std::ranges::copy(there, into);
    return true;
}

/// Lets the home announce these pages, which are about to be copied (mark_fetched).
void Pages::without_places(std::byte* region, std::size_t first, std::size_t count) const {
    if (!layout_.lends) return;
    for (std::size_t page = first; page < first + count; ++page)
        fetched(region, page).fetch_or(without_place, std::memory_order_release);
    mark_fetched(region, first, count);
}

/// Tells the home that `rank` fetches pages.
void Pages::note_copies(std::byte* region, std::size_t first, std::size_t count, int rank) const {
    if (protocol() == SharedProtocol::update)
        for (std::size_t page = first; page < first + count; ++page) holders(region).add(page, rank);
    mark_fetched(region, first, count);
}

/// For pages that this thread has locked. Those whose frames have been kept need none.
void Pages::make_room(std::size_t first, std::size_t count) {
    const auto evict = [](Pages& array, std::size_t page) { return array.evict(page); };
    for (std::size_t page = first; page < first + count;) {
        const std::size_t begin = page;
        while (page < first + count && !pages_[page].cached) pages_[page++].cached = true;
        if (page > begin) cache_.admit(*this, layout_.page_bytes, begin, page - begin, evict);
        else ++page;
    }
}

/// Pages that have one home, and that this thread has locked.
void Pages::fetch(std::size_t first, std::size_t count) {
    request(first, count);
    await(first, count);
}

/// Requests them; await() must follow. From a home on this host they are here at once.
void Pages::request(std::size_t first, std::size_t count) {
    if (begin_fetch(first, count)) courier_->fetch(homes_.of(first), number_, {first, count});
}

/// Copies the pages if their home is on this host. Returns whether they must be requested instead.
bool Pages::begin_fetch(std::size_t first, std::size_t count) {
    const std::size_t bytes = count * layout_.page_bytes;
    Counters::add(counters_.fetches, count);
    Counters::add(counters_.fetched_bytes, bytes);
    std::byte* const there = region_at(homes_.of(first));
    if (there != nullptr) {
        note_copies(there, first, count, fabric_.rank());
        // Other ranks may bring differences to these pages meanwhile, in bytes that a program without data races does
        // not read before the next barrier.
        const platform::UnorderedReads unordered;
        for (std::size_t page = first; log_ && page < first + count; ++page) note_fetched(page, frame_of(there, page));
        if (lends_copies(count))
            for (std::size_t page = first; page < first + count; ++page) copy_lent(there, page, frame(page).data());
        else {
            without_places(there, first, count);
            std::memcpy(frame(first).data(), frame_of(there, first).data(), bytes);
        }
    }
    for (std::size_t page = first; page < first + count; ++page)
        pages_[page].fetch.store(there != nullptr ? Fetch::here : Fetch::asked, std::memory_order_relaxed);
    return there == nullptr;
}

void Pages::await(std::size_t first, std::size_t count) {
    std::size_t missing = first;
    const auto all_are_here = [&] {
        while (missing < first + count && pages_[missing].fetch.load(std::memory_order_acquire) == Fetch::here)
            pages_[missing++].fetch.store(Fetch::idle, std::memory_order_relaxed);
        return missing == first + count;
    };
    fabric_.progress().wait(all_are_here, fabric::Progress::Attention::network);
}

// -- for the courier --

/// This thread acts for the rank that fetches.
const std::byte* Pages::lend(std::size_t first, std::size_t count, int rank) {
    if (!has({first, count})) return nullptr;
    protect_open({first, count});
    note_copies(region_, first, count, rank);
    without_places(region_, first, count);
    return frame(first).data();
}

bool Pages::lend_copy(std::size_t page, int rank, std::byte* into) {
    if (layout_.lends) {
        mark_fetched(region_, page, 1);
        return copy_lent(region_, page, into);
    }
    note_copies(region_, page, 1, rank);
    const platform::UnorderedReads unordered; // as in begin_fetch()
    std::ranges::copy(frame(page), into);
    return is_unreleased(page);
}

/// After the page was copied. A page that this home had written before it was copied, and that is `clean` now, was
/// released in between.
bool Pages::is_unreleased(std::size_t page) {
    if (!Turn(fabric_, pages_[page].locked).try_lock()) return true;
    const bool is_clean = pages_[page].state == State::clean;
    unlock(pages_[page]);
    return !is_clean;
}

/// By a thread of the program. What was fetched after this page had come may be newer than it.
void Pages::store(std::size_t page, std::span<const std::byte> contents, Origin origin) {
    if (contents.size() != layout_.page_bytes) return;
    lock(pages_[page]);
    if (pages_[page].state == State::absent && this->origin(page).message < origin.message) {
        Counters::add(counters_.fetches);
        Counters::add(counters_.fetched_bytes, contents.size());
        note_fetched(page, contents);
        note_change(page, origin);
        std::ranges::copy(contents, frame(page).begin());
        pages_[page].idle = 0;
        pages_[page].state = State::clean;
        change(page, 1, PageAccess::none, PageAccess::read);
    }
    unlock(pages_[page]);
}

bool Pages::take(std::size_t first, std::span<const std::byte> contents, Origin origin) {
    const std::size_t count = contents.size() / layout_.page_bytes;
    if (!has({first, count}) || contents.size() != count * layout_.page_bytes) return false;
    for (std::size_t page = first; page < first + count; ++page)
        if (pages_[page].fetch.load(std::memory_order_relaxed) != Fetch::asked) return false;
    for (std::size_t page = first; log_ && page < first + count; ++page)
        note_fetched(page, contents.subspan((page - first) * layout_.page_bytes, layout_.page_bytes));
    for (std::size_t page = first; page < first + count; ++page) note_change(page, origin);
    std::memcpy(frame(first).data(), contents.data(), contents.size());
    for (std::size_t page = first; page < first + count; ++page)
        pages_[page].fetch.store(Fetch::here, std::memory_order_release);
    return true;
}

} // namespace kumiki::dsm
