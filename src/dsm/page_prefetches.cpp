// Pages that are fetched, and made writable, before the program faults there, because it did so in earlier intervals
// that began at the same place.
#include <algorithm>

#include "dsm/pages.hpp"
#include "dsm/turn.hpp"

namespace kumiki::dsm {

using platform::PageAccess;

/// All requests leave before the first answer is awaited.
void Pages::expect(IntervalPlace place) {
    if (!expects()) return;
    expectation_ = &history_.begin(place);
    const AccessHistory::PageList& pages = expectation_->fetched;
    for (std::size_t next = 0; next < pages.size();) {
        const std::size_t first = pages[next++];
        if (!claim_absent(first)) continue;
        const int home = homes_.of(first);
        std::size_t end = first + 1;
        while (next < pages.size() && pages[next] == end && (end - first) * layout_.page_bytes < longest_fetch &&
               homes_.of(end) == home && claim_absent(end)) {
            ++next;
            ++end;
        }
        request(first, end - first);
        requested_.push_back({first, end - first});
    }
}

/// Locks the page if this rank would have to fetch it. Does not wait for another thread, because this one has locked
/// other pages.
bool Pages::claim_absent(std::size_t page) {
    Turn turn(fabric_, pages_[page].locked);
    if (is_home(page) || homes_.is_open(page) || !turn.try_lock()) return false;
    if (pages_[page].state == State::absent) return true;
    turn.unlock();
    return false;
}

void Pages::open_expected() {
    if (expectation_ == nullptr) return;
    auto write = expectation_->written.begin();
    for (const PageRun& run : requested_) {
        await(run.first, run.count);
        open_fetched(run, write);
    }
    requested_.clear();
    const AccessHistory::PageList& written = expectation_->written;
    for (std::size_t next = 0; next < written.size();) {
        const std::size_t first = written[next++];
        std::size_t end = first + 1;
        while (next < written.size() && written[next] == end) ++next, ++end;
        const auto prepare = [&](std::size_t page) { // before any thread can write there
            if (pages_[page].state != State::clean) return false;
            begin_to_write(page);
            return true;
        };
        change_runs(first, end, PageAccess::read, PageAccess::write, prepare, [](std::size_t) {});
    }
    expectation_ = nullptr;
}

/// Lets the program read these pages, and write to those from `write` on.
void Pages::open_fetched(const PageRun& run, AccessHistory::PageList::const_iterator& write) {
    const std::size_t end = run.first + run.count;
    const auto is_written = [&](std::size_t page) {
        while (write != expectation_->written.end() && *write < page) ++write;
        return write != expectation_->written.end() && *write == page;
    };
    for (std::size_t page = run.first; page < end;) {
        const std::size_t first = page;
        const bool writes = is_written(page);
        while (page < end && is_written(page) == writes) {
            pages_[page].idle = 0;
            pages_[page].state = State::clean;
            if (writes) begin_to_write(page);
            ++page;
        }
        change(first, page - first, PageAccess::none, writes ? PageAccess::write : PageAccess::read);
    }
    for (std::size_t page = run.first; page < end; ++page) unlock(pages_[page]);
}

/// The place of the next interval is told after the barrier that ends this one.
void Pages::end_interval() {
    const auto take = [](PageSet& set) {
        AccessHistory::PageList list;
        set.take_runs([&](std::size_t begin, std::size_t end) {
            for (std::size_t page = begin; page < end; ++page) list.push_back(page);
        });
        return list;
    };
    if (!expects()) return;
    const AccessHistory::PageList dropped = take(lost_at_locks_);
    AccessHistory::Accesses faulted{.fetched = take(missed_), .written = take(noticed_)};
    history_.end(std::move(faulted), dropped);
}

} // namespace kumiki::dsm
