#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/zeroed_array.hpp"

namespace kumiki::dsm {

/// A set of the pages of an array. Any thread may add pages; one at a time takes them.
///
/// An array may have millions of pages, of which an interval touches a few. So the bits of the pages are the lowest
/// level of a tree: a bit of a higher level says that the word below it is not zero, and the highest level is one word.
///
/// A thread that adds a page sets the bits from the lowest level up, and one that takes them clears each word before
/// those below it. Both are read-modify-write operations with release and acquire. So an addition whose bit of a higher
/// level is cleared has set the bits below that before, which are then seen; and if it comes to a level after that has
/// been cleared, its bit stays there, and the page is taken the next time.
class PageSet {
public:
    explicit PageSet(std::size_t pages) {
        std::size_t words = pages;
        do {
            words = words / bits + (words % bits != 0 ? 1 : 0);
            levels_.emplace_back(words);
        } while (words > 1);
    }

    void add(std::size_t page) {
        for (auto& level : levels_) {
            level[page / bits].fetch_or(std::uint64_t{1} << page % bits, std::memory_order_acq_rel);
            page /= bits;
        }
    }

    /// The bits of higher levels stay: a word below them may be zero.
    void remove(std::size_t page) {
        levels_.front()[page / bits].fetch_and(~(std::uint64_t{1} << page % bits), std::memory_order_acq_rel);
    }

    bool contains(std::size_t page) const {
        return (levels_.front()[page / bits].load(std::memory_order_relaxed) >> page % bits & 1) != 0;
    }

    /// How many pages right before this one are in the set, one after the other, and at most `most`. Pages that are
    /// added meanwhile may count or not.
    std::size_t run_before(std::size_t page, std::size_t most) const {
        std::size_t run = 0;
        while (run < most && run < page) {
            const std::size_t last = page - run - 1;
            const std::uint64_t word = levels_.front()[last / bits].load(std::memory_order_relaxed);
            const std::size_t behind = bits - 1 - last % bits; // bits of the word that are not before the page
            const auto ones = static_cast<std::size_t>(std::countl_one(word << behind));
            run += ones;
            if (ones <= last % bits) break;
        }
        return std::min(run, most);
    }

    /// The same for the pages right behind this one.
    std::size_t run_behind(std::size_t page, std::size_t most) const {
        std::size_t run = 0;
        while (run < most) {
            const std::size_t next = page + run + 1;
            if (next / bits >= levels_.front().size()) break;
            const std::uint64_t word = levels_.front()[next / bits].load(std::memory_order_relaxed);
            const auto ones = static_cast<std::size_t>(std::countr_one(word >> next % bits));
            run += ones;
            if (ones < bits - next % bits) break;
        }
        return std::min(run, most);
    }

    /// Empties the set, and calls each(begin, end) for every run of pages that were in it, in ascending order.
    template <class Each>
    void take_runs(Each each) {
        if (levels_.back()[0].load(std::memory_order_relaxed) == 0) return;
        std::size_t begin = 0, end = 0;
        take_word(levels_.size() - 1, 0, [&](std::size_t page) {
            if (page != end) {
                if (begin != end) each(begin, end);
                begin = page;
            }
            end = page + 1;
        });
        if (begin != end) each(begin, end);
    }

    /// The same, page by page.
    std::vector<std::size_t> take() {
        std::vector<std::size_t> pages;
        take_runs([&](std::size_t begin, std::size_t end) {
            for (std::size_t page = begin; page < end; ++page) pages.push_back(page);
        });
        return pages;
    }

private:
    using Level = platform::ZeroedArray<std::atomic<std::uint64_t>>;
    static constexpr std::size_t bits = 64;

    template <class Each>
    void take_word(std::size_t level, std::size_t word, const Each& each) {
        std::uint64_t left = levels_[level][word].exchange(0, std::memory_order_acq_rel);
        for (; left != 0; left &= left - 1) {
            const std::size_t below = word * bits + static_cast<std::size_t>(std::countr_zero(left));
            if (level == 0) each(below);
            else take_word(level - 1, below, each);
        }
    }

    std::vector<Level> levels_; ///< from the bits of the pages to the one word
};

} // namespace kumiki::dsm
