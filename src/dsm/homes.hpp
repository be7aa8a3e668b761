#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kumiki/shared.h"
#include "platform/zeroed_array.hpp"

namespace kumiki::dsm {

/// How the pages of an array get their homes (Omni/SCASH paper, 2.2 and 3).
enum class Placement : std::uint8_t {
    block,      ///< each rank has one run of pages; the last ranks may have fewer, or none
    cyclic,     ///< one page after another, to each rank in turn
    first_rank, ///< all at rank 0
    first,      ///< the rank that touches a page first, as the barrier after that finds out; until then, as in `block`
    relocated,  ///< the same, and a page moves to a rank that alone keeps writing to it
    managed     ///< the rank that touches a page first; it asks rank 0 at once, as in the paper
};

constexpr bool is_by_touch(Placement placement) { return placement >= Placement::first; }

/// Pages of an array that have homes of their own.
struct HomeRun {
    std::size_t first, count;
    int rank; ///< KUMIKI_HOME_OPEN: the next touch decides
};

/// How an array gets its homes.
struct Arrangement {
    Placement placement = Placement::block;
    /// Where homes are that a touch will decide: a placement that is not by touch.
    Placement until_touched = Placement::block;
    std::span<const HomeRun> exceptions = {}; ///< only in memory that is adopted
};

/// Which rank is the home of each page. Every page has a home at all times. A home may be *open*: the next touch
/// decides it, and until a barrier has told all ranks of it, the home stays where it is.
///
/// All ranks know the same homes, because they change only inside barriers, except where a manager gives them.
class Homes {
public:
    Homes(const Arrangement& wanted, std::size_t pages, int ranks)
        : placement_(wanted.placement),
          formula_(is_by_touch(wanted.placement) ? wanted.until_touched : wanted.placement),
          pages_(pages),
          ranks_(static_cast<std::size_t>(ranks)),
          each_(formula_ == Placement::first_rank ? pages : (pages + ranks_ - 1) / ranks_) {
        if (is_by_touch(placement_)) make_table(); // whose entries say that all homes are open
        for (const HomeRun& run : wanted.exceptions)
            if (run.rank == KUMIKI_HOME_OPEN) open(run.first, run.count);
            else
                for (std::size_t page = run.first; page < run.first + run.count; ++page) decide(page, run.rank);
    }

    Placement placement() const { return placement_; }
    int of(std::size_t page) const {
        const std::uint32_t told = !table_.empty() ? table_[page].load(std::memory_order_relaxed) & ~is_open_bit : 0;
        return told != 0 ? static_cast<int>(told - 1) : by_formula(page);
    }
    bool is_open(std::size_t page) const {
        if (table_.empty()) return false;
        const std::uint32_t told = table_[page].load(std::memory_order_relaxed);
        return told != 0 ? (told & is_open_bit) != 0 : is_by_touch(placement_);
    }
    /// Whether homes have moved, or may move.
    bool may_move() const { return !table_.empty(); }

    void open(std::size_t first, std::size_t count) {
        if (table_.empty()) make_table();
        for (std::size_t page = first; page < first + count; ++page)
            if (!is_open(page)) table_[page].store(entry(of(page)) | is_open_bit, std::memory_order_relaxed);
    }
    void decide(std::size_t page, int rank) {
        if (table_.empty()) make_table();
        table_[page].store(entry(rank), std::memory_order_relaxed);
    }

    struct Run {
        std::size_t begin, count;
    };
    /// The longest run of pages that starts at `begin`, ends before `end`, and whose pages all have `rank` as their
    /// home, or all do not, like the first one.
    Run run_from(std::size_t begin, std::size_t end, int rank) const {
        const bool mine = of(begin) == rank;
        if (!table_.empty() || formula_ == Placement::cyclic) {
            std::size_t next = begin + 1;
            while (next < end && (of(next) == rank) == mine) ++next;
            return {begin, next - begin};
        }
        const std::size_t first = static_cast<std::size_t>(rank) * each_;
        const std::size_t next = mine ? first + each_ : begin < first ? first : end;
        return {begin, std::min(next, end) - begin};
    }
    /// The number of runs of pages whose home alternately is and is not a rank, or a little more.
    std::size_t runs() const {
        if (table_.empty()) return formula_ == Placement::cyclic ? 2 * (pages_ / ranks_) + 3 : 3;
        std::size_t count = 1;
        for (std::size_t page = 1; page < pages_; ++page) count += of(page) != of(page - 1) ? 1 : 0;
        return count;
    }
    bool any_open() const {
        for (std::size_t page = 0; page < pages_; ++page)
            if (is_open(page)) return true;
        return false;
    }

private:
    static constexpr std::uint32_t is_open_bit = std::uint32_t{1} << 31;

    int by_formula(std::size_t page) const {
        return static_cast<int>(formula_ == Placement::cyclic ? page % ranks_ : page / each_);
    }
    static std::uint32_t entry(int rank) { return static_cast<std::uint32_t>(rank) + 1; }
    void make_table() { table_ = platform::ZeroedArray<std::atomic<std::uint32_t>>(pages_); }

    Placement placement_, formula_;
    std::size_t pages_, ranks_, each_;
    /// By page: 0 as long as the formula says it, and it is open if a touch decides; otherwise the rank + 1, and
    /// whether it is open. Empty while the formula says all. Threads that fault read it, and in `managed` arrays write
    /// it.
    platform::ZeroedArray<std::atomic<std::uint32_t>> table_;
};

} // namespace kumiki::dsm
