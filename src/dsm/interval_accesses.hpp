#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "dsm/access_history.hpp"
#include "dsm/fault_runs.hpp"
#include "dsm/page_set.hpp"

namespace kumiki::dsm {

/// What this rank accesses in an array in the present interval, as far as faults and locks tell, and what it is
/// expected to access by what it did in earlier intervals (AccessHistory). Any thread may use it; one at a time begins
/// and ends intervals.
class IntervalAccesses {
public:
    using Accesses = AccessHistory::Accesses;

    explicit IntervalAccesses(std::size_t pages) : missed_(pages), noticed_(pages), lost_at_locks_(pages) {}

    FaultRuns& missed() { return missed_; }   ///< pages that faults have fetched
    FaultRuns& noticed() { return noticed_; } ///< pages that faults have made writable
    const FaultRuns& missed() const { return missed_; }
    const FaultRuns& noticed() const { return noticed_; }
    /// A lock has dropped the copy of this page.
    void lose_at_lock(std::size_t page);
    /// What this rank has written is about to be released by a lock. The first time in an interval, what was written
    /// before that is all that it will be expected to write: what it writes later, it must not announce here.
    void release_at_lock();
    /// A copy could be written, and is as before.
    void note_unchanged(std::size_t page) {
        unchanged_.fetch_add(1, std::memory_order_relaxed);
        noticed_.note_unused(page);
    }

    /// An interval begins at a place of the program. Returns what is expected of it, valid until end(); null: nothing
    /// so far.
    const Accesses* begin(Visit visit);
    /// Right after begin(), by the same thread: AccessHistory::likely().
    const Accesses* likely() const { return history_.likely(); }
    /// A page has been fetched by a fault, or noticed. Returns what is expected, if that is known only now: a copy,
    /// because another thread may end the interval meanwhile.
    std::optional<Accesses> search(std::size_t page);
    /// The interval has ended, and learns unless nothing may be expected of the array now.
    void end(bool learns);

private:
    FaultRuns missed_, noticed_;
    PageSet lost_at_locks_;
    std::optional<AccessHistory::PageList> written_before_lock_; ///< nothing: no lock has released anything so far
    std::atomic<std::size_t> unchanged_{0};
    std::mutex turn_; ///< guards the history
    AccessHistory history_;
    std::atomic<bool> searches_{false}; ///< whether the history wants to know of faults
};

} // namespace kumiki::dsm
