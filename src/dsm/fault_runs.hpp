#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "dsm/page_set.hpp"

namespace kumiki::dsm {

/// The pages that faults have made ready for one kind of access in the present interval, and how many each further
/// fault should make ready. Any number of runs may grow side by side, as when a thread walks through several rows at
/// once. Any thread may use it; one at a time calls take().
class FaultRuns {
public:
    explicit FaultRuns(std::size_t pages) : pages_(pages), unproven_(pages) {}

    /// For a fault at this page: as many as the pages right before it that are ready, and in a long run at most an
    /// eighth of it, so that little is made ready for nothing where it ends. At least 1, and at most `most`.
    std::size_t window(std::size_t page, std::size_t most) const {
        const std::size_t run = pages_.run_before(page, share * most);
        return std::clamp<std::size_t>(std::min(run, std::max(short_run, run / share)), 1, most);
    }
    /// Whether a fault at this page goes on with a run that is long enough to expect that it does not end there.
    bool goes_on(std::size_t page) const { return pages_.run_before(page, short_run) == short_run; }
    /// A fault at `first` has made these pages ready. Those before it that came along are in use, too.
    void add(std::size_t first, std::size_t end) {
        for (std::size_t left = unproven_.run_before(first, first); left > 0; --left) unproven_.remove(first - left);
        unproven_.remove(first);
        for (std::size_t page = first + 1; page < end; ++page) unproven_.add(page);
        for (std::size_t page = first; page < end; ++page) pages_.add(page);
    }
    bool contains(std::size_t page) const { return pages_.contains(page); }
    /// Empties the set. Returns the pages that have faulted, and those that came along and were followed by a fault: of
    /// the others nobody knows whether they were of use.
    std::vector<std::size_t> take() {
        const std::vector<std::size_t> all = pages_.take(), doubtful = unproven_.take();
        std::vector<std::size_t> used;
        std::ranges::set_difference(all, doubtful, std::back_inserter(used));
        return used;
    }

private:
    static constexpr std::size_t short_run = 8, share = 8;

    PageSet pages_, unproven_;
};

} // namespace kumiki::dsm
