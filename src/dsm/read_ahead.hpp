#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kumiki::dsm {

/// How many pages a fault should fetch: one, unless faults follow each other from page to page. Then twice as many as
/// the one before, so that at most about as many pages are fetched for nothing as have been of use. Remembers where the
/// last few faults ended; threads that fault at the same time may lose each other's entries, which costs a longer start
/// only.
class ReadAhead {
public:
    struct Window {
        std::size_t pages;
        std::size_t stream; ///< for ended()
    };

    /// A fault at an absent page; at most `most` pages, at least 1.
    Window begin(std::size_t page, std::size_t most) {
        for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
            const std::uint64_t seen = streams_[stream].load(std::memory_order_relaxed);
            if (seen >> window_bits == page && seen != 0)
                return {std::clamp<std::size_t>(2 * (seen & longest), 1, most), stream};
        }
        return {1, next_.fetch_add(1, std::memory_order_relaxed) % streams_.size()};
    }
    /// `count` pages from `page` on have been fetched.
    void ended(Window window, std::size_t page, std::size_t count) {
        streams_[window.stream].store((page + count) << window_bits | std::min<std::size_t>(window.pages, longest),
                                      std::memory_order_relaxed);
    }

private:
    static constexpr unsigned window_bits = 16;
    static constexpr std::uint64_t longest = (std::uint64_t{1} << window_bits) - 1;

    std::array<std::atomic<std::uint64_t>, 8> streams_{}; ///< the page after the last one, and the pages of its window
    std::atomic<std::size_t> next_{0};
};

} // namespace kumiki::dsm
