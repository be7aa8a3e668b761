#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "dsm/packed_pages.hpp"
#include "dsm/page_set.hpp"
#include "dsm/strided_runs.hpp"

namespace kumiki::dsm {

/// The pages that faults have made ready for one kind of access in the present interval, and which each further fault
/// should make ready. Any number of runs may grow side by side, in ascending or descending order, as when a thread
/// walks through several rows at once. Any thread may use it; one at a time calls take().
class FaultRuns {
public:
    explicit FaultRuns(std::size_t pages) : count_(pages), pages_(pages), unproven_(pages) {}

    /// How fast runs grow while they are short, and so by how much too long they may get.
    enum class Growth : std::uint8_t { fast, slow };

    /// For a fault at this page: in the direction in which the longer of the two runs beside it goes on, as many as the
    /// run has, and of a long one at most an eighth, so that little is made ready for nothing where it ends; or as
    /// many as the runs before lead to expect. At least 1, and at most `most` that the array has.
    Window window(std::size_t page, std::size_t most, Growth growth = Growth::fast) const {
        const std::size_t before = pages_.run_before(page, share * most),
                          behind = pages_.run_behind(page, share * most);
        const std::size_t run = std::max(before, behind), step = growth == Growth::fast ? short_run : slow_step;
        Window window{std::min(run, std::max(step, run / share)), before >= behind};
        if (strided_.was_known_up_to(page)) window.count = 1;
        else if (window.count < short_run)
            if (const Window expected = strided_.expected(page); expected.count > window.count) window = expected;
        const std::size_t there_are = std::min(most, window.ascends ? count_ - page : page + 1);
        return {std::clamp<std::size_t>(window.count, 1, there_are), window.ascends, window.is_known};
    }
    /// Whether a fault at this page goes on with a run that is long enough to expect that it does not end there.
    bool goes_on(std::size_t page) const {
        return pages_.run_before(page, short_run) == short_run || pages_.run_behind(page, short_run) == short_run;
    }
    /// A fault at this page has made the window ready. The pages on its other side that came along are in use, too.
    void add(std::size_t page, const Window& window) {
        if (window.ascends)
            for (std::size_t left = unproven_.run_before(page, count_); left > 0; --left) unproven_.remove(page - left);
        else
            for (std::size_t left = unproven_.run_behind(page, count_); left > 0; --left) unproven_.remove(page + left);
        strided_.add(page, window);
        const PageRun run = window.from(page);
        for (std::size_t each = run.first; each < run.first + run.count; ++each) {
            if (each == page || window.is_known) unproven_.remove(each);
            else unproven_.add(each);
            pages_.add(each);
        }
    }
    /// This page was made ready for nothing: runs that are expected to be as long as the present one end before it.
    void note_unused(std::size_t page) { strided_.end_before(page); }
    bool contains(std::size_t page) const { return pages_.contains(page); }
    /// Empties the set. Returns the pages that have faulted, and those that came along and were followed by a fault: of
    /// the others nobody knows whether they were of use.
    std::vector<std::size_t> take() {
        strided_.clear();
        const std::vector<std::size_t> all = pages_.take(), doubtful = unproven_.take();
        std::vector<std::size_t> used;
        std::ranges::set_difference(all, doubtful, std::back_inserter(used));
        return used;
    }

private:
    static constexpr std::size_t short_run = 8, slow_step = 2, share = 8;

    std::size_t count_;
    PageSet pages_, unproven_;
    StridedRuns strided_;
};

} // namespace kumiki::dsm
