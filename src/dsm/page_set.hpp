#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kumiki::dsm {

/// A set of the pages of an array. Any thread may add pages; one at a time takes them.
class PageSet {
public:
    explicit PageSet(std::size_t pages) : words_((pages + bits - 1) / bits) {}

    void add(std::size_t page) {
        words_[page / bits].fetch_or(std::uint64_t{1} << page % bits, std::memory_order_relaxed);
        any_.store(true, std::memory_order_release); // a thread that sees this sees the page
    }

    /// Empties the set, and calls each(begin, end) for every run of pages that were in it.
    template <class Each>
    void take_runs(Each each) {
        if (!any_.load(std::memory_order_relaxed) || !any_.exchange(false, std::memory_order_acquire)) return;
        std::size_t begin = 0, end = 0;
        for (std::size_t word = 0; word < words_.size(); ++word) {
            std::uint64_t left = words_[word].exchange(0, std::memory_order_relaxed);
            while (left != 0) {
                const std::size_t page = word * bits + static_cast<std::size_t>(std::countr_zero(left));
                left &= left - 1;
                if (page != end) {
                    if (begin != end) each(begin, end);
                    begin = page;
                }
                end = page + 1;
            }
        }
        if (begin != end) each(begin, end);
    }

private:
    static constexpr std::size_t bits = 64;
    std::vector<std::atomic<std::uint64_t>> words_;
    std::atomic<bool> any_{false};
};

} // namespace kumiki::dsm
