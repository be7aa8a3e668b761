// Pages that are fetched, and made writable, before the program faults there, because it did so in earlier intervals
// that began at the same place.
#include <algorithm>
#include <map>
#include <utility>

#include "dsm/courier.hpp"
#include "dsm/pages.hpp"
#include "dsm/turn.hpp"

namespace kumiki::dsm {

using platform::PageAccess;

/// All requests leave before the first answer is awaited.
void Pages::expect(Visit visit) {
    if (!expects()) return;
    expectation_ = accesses_.begin(visit);
    if (expectation_ != nullptr) {
        requested_ = request_absent(expectation_->fetched, Ahead::counts);
        early_.note(visit, requested_);
    } else if (const auto* const likely = accesses_.likely()) {
        const std::vector<PageRun> runs = request_absent(likely->fetched, Ahead::counts);
        early_.note(visit, runs);
        await_early();
        for (const PageRun& run : runs) leave_requested(run);
        fabric_.progress().ring(fabric_.rank());
    } else early_.note(visit, {});
}

void Pages::open_expected() {
    const auto* const expected = std::exchange(expectation_, nullptr);
    if (expected == nullptr) return;
    await_early();
    open(*expected, std::exchange(requested_, {}));
}

/// What the interval needs may be known by now. Other threads of this rank access the pages meanwhile.
void Pages::search_expectation(std::size_t page) {
    if (const auto expected = accesses_.search(page))
        open(*expected, request_absent(expected->fetched, Ahead::does_not));
}

/// Requests those of these pages that are not here. The calling thread has locked the runs that it returns.
std::vector<PageRun> Pages::request_absent(const AccessHistory::PageList& pages, Ahead ahead) {
    const auto comes = [&](std::size_t page) { return ahead == Ahead::counts && early_.comes(page); };
    std::vector<PageRun> requested;
    std::map<int, std::vector<PageRun>> gathered; // by home
    for (std::size_t next = 0; next < pages.size();) {
        const std::size_t first = pages[next++];
        if (!claim_absent(first)) continue;
        const int home = homes_.of(first);
        std::size_t end = first + 1;
        while (next < pages.size() && pages[next] == end && (end - first) * layout_.page_bytes < longest_fetch &&
               homes_.of(end) == home && comes(end) == comes(first) && claim_absent(end)) {
            ++next;
            ++end;
        }
        const PageRun run{first, end - first};
        requested.push_back(run);
        if (!begin_fetch(first, end - first)) continue;
        if (comes(first)) {
            for (std::size_t page = first; page < end; ++page)
                pages_[page].fetch.store(Fetch::early, std::memory_order_relaxed);
            early_missing_ += run.count;
            continue;
        }
        if (run.count <= most_gathered) gathered[home].push_back(run);
        else courier_->fetch(home, number_, run);
    }
    for (const auto& [home, runs] : gathered) courier_->fetch(home, number_, runs, layout_.page_bytes);
    return requested;
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

/// Awaits the pages that this thread has requested, and lets the program access them, and write to those that are
/// expected to be written.
void Pages::open(const AccessHistory::Accesses& expected, const std::vector<PageRun>& requested) {
    std::span<const std::size_t> ahead = expected.written;
    for (const PageRun& run : requested) {
        await(run.first, run.count);
        open_fetched(run, ahead);
    }
    const AccessHistory::PageList& written = expected.written;
    for (std::size_t next = 0; next < written.size();) {
        const std::size_t first = written[next++];
        std::size_t end = first + 1;
        while (next < written.size() && written[next] == end) ++next, ++end;
        const auto prepare = [&](std::size_t page) { // before any thread can write there
            if (!is_protected(page)) return false;
            begin_to_write(page);
            return true;
        };
        change_runs(first, end, PageAccess::read, PageAccess::write, prepare, [](std::size_t) {});
    }
}

/// Lets the program read these pages, and write to those in `written`, from which the pages before are taken.
void Pages::open_fetched(const PageRun& run, std::span<const std::size_t>& written) {
    const std::size_t end = run.first + run.count;
    const auto is_written = [&](std::size_t page) {
        while (!written.empty() && written.front() < page) written = written.subspan(1);
        return !written.empty() && written.front() == page;
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

} // namespace kumiki::dsm
