#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "dsm/packed_pages.hpp"

namespace kumiki::dsm {

/// The pages that a fault should make ready: how many, and in which direction from the page that has faulted.
struct Window {
    std::size_t count;     ///< with that page
    bool ascends;          ///< false: to lower addresses
    bool is_known = false; ///< that so many are needed, by earlier runs; otherwise some may be made ready for nothing

    PageRun from(std::size_t page) const { return {ascends ? page : page + 1 - count, count}; }
    std::size_t last_from(std::size_t page) const { return ascends ? page + count - 1 : page + 1 - count; }
};

/// The latest runs of faults in an array. Rows and planes of a matrix are runs that begin at equal distances, so the
/// third one is expected to be as long as the two before it, and need not grow from one page again
/// (docs/decisions/shared-read-ahead.md). Any thread may use it. Threads that do so at the same time may spoil what is
/// expected, which costs no more than pages that are made ready for nothing.
class StridedRuns {
public:
    /// What a run that begins with a fault at this page will probably need. One page: nothing is known.
    Window expected(std::size_t page) const {
        const auto begin = static_cast<std::int64_t>(page);
        for (const auto& each : runs_) {
            const Run last = each.load(std::memory_order_relaxed);
            const std::int64_t distance = begin - last.begin;
            if (std::abs(last.pages) < shortest || std::abs(distance) <= std::abs(last.pages)) continue;
            for (const auto& other : runs_) {
                const Run before = other.load(std::memory_order_relaxed);
                const int pages = std::min(std::abs(last.pages), std::abs(before.pages));
                if (pages >= shortest && (last.pages > 0) == (before.pages > 0) &&
                    std::abs(std::int64_t{last.begin} - before.begin - distance) <= tolerance)
                    return {static_cast<std::size_t>(pages), last.pages > 0, true};
            }
        }
        return {1, true};
    }
    /// Whether a run whose length was known has ended right before this page. That the page is needed, too, tells that
    /// the run was a little longer than expected, and not that it goes on.
    bool was_known_up_to(std::size_t page) const {
        const Run next{static_cast<std::uint32_t>(page), 1, false};
        return std::ranges::any_of(runs_, [&](const auto& each) {
            const Run run = each.load(std::memory_order_relaxed);
            return run.is_known && (ends_before(run, next) || ends_before(run, {next.begin, -1, false}));
        });
    }
    /// A page has come along with a run for nothing, so the run was shorter.
    void end_before(std::size_t page) {
        for (auto& each : runs_) {
            Run run = each.load(std::memory_order_relaxed);
            const std::int64_t distance = static_cast<std::int64_t>(page) - run.begin,
                               pages = run.pages > 0 ? distance : -distance;
            if (pages <= 0 || pages >= std::abs(run.pages)) continue;
            run.pages = bounded(distance);
            each.store(run, std::memory_order_relaxed);
        }
    }
    void clear() {
        for (auto& each : runs_) each.store({}, std::memory_order_relaxed);
    }
    /// A fault at this page has made the window ready: it goes on with a run, or begins one.
    void add(std::size_t page, const Window& window) {
        const std::int64_t sign = window.ascends ? 1 : -1, pages = sign * static_cast<std::int64_t>(window.count);
        Run run{static_cast<std::uint32_t>(page), bounded(pages), window.is_known};
        auto found = std::ranges::find_if(
            runs_, [&](const auto& each) { return ends_before(each.load(std::memory_order_relaxed), run); });
        if (found != runs_.end()) {
            run = found->load(std::memory_order_relaxed);
            run.pages = bounded(sign * std::abs(run.pages) + pages);
            run.is_known = false;
        } else {
            found = std::ranges::find_if(
                runs_, [&](const auto& each) { return each.load(std::memory_order_relaxed).begin == run.begin; });
            if (found == runs_.end()) found = &runs_[next_.fetch_add(1, std::memory_order_relaxed) % runs_.size()];
        }
        found->store(run, std::memory_order_relaxed);
    }

private:
    struct Run {
        std::uint32_t begin;
        std::int16_t pages; ///< negative: it descends; 0: there is no such run; longer ones count as several
        bool is_known;      ///< its length was expected, and it has not gone on so far
    };
    static std::int16_t bounded(std::int64_t pages) {
        constexpr std::int64_t most = std::numeric_limits<std::int16_t>::max();
        return static_cast<std::int16_t>(std::clamp(pages, -most, most));
    }
    /// Shorter ones grow as fast.
    static constexpr int shortest = 4;
    /// Rows do not begin at the beginnings of pages.
    static constexpr std::int64_t tolerance = 1;

    /// Whether the window goes on with the run. The direction of one page is that of what follows.
    static bool ends_before(const Run& run, const Run& window) {
        const bool ascends = window.pages > 0;
        if (run.pages == 0 || (std::abs(run.pages) > 1 && (run.pages > 0) != ascends)) return false;
        return std::int64_t{run.begin} + (ascends ? 1 : -1) * std::abs(run.pages) == window.begin;
    }

    std::array<std::atomic<Run>, 32> runs_{};
    std::atomic<unsigned> next_{0};
};

} // namespace kumiki::dsm
