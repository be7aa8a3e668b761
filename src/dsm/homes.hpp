#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kumiki::dsm {

/// How the pages of an array are distributed over their homes (Omni/SCASH paper, 2.2).
enum class Placement : std::uint8_t {
    block,      ///< each rank has one run of pages; the last ranks may have fewer, or none
    cyclic,     ///< one page after another, to each rank in turn
    first_rank, ///< all at rank 0
};

/// Which rank is the home of each page.
class Homes {
public:
    Homes(Placement placement, std::size_t pages, int ranks)
        : placement_(placement),
          pages_(pages),
          ranks_(static_cast<std::size_t>(ranks)),
          each_(placement == Placement::first_rank ? pages : (pages + ranks_ - 1) / ranks_) {}

    int of(std::size_t page) const {
        return static_cast<int>(placement_ == Placement::cyclic ? page % ranks_ : page / each_);
    }

    struct Run {
        std::size_t begin, count;
    };
    /// The longest run of pages that starts at `begin`, ends before `end`, and whose pages all have `rank` as their
    /// home, or all do not, like the first one.
    Run run_from(std::size_t begin, std::size_t end, int rank) const {
        const bool mine = of(begin) == rank;
        if (placement_ == Placement::cyclic) {
            std::size_t next = begin + 1;
            while (next < end && (of(next) == rank) == mine) ++next;
            return {begin, next - begin};
        }
        const std::size_t first = static_cast<std::size_t>(rank) * each_;
        const std::size_t next = mine ? first + each_ : begin < first ? first : end;
        return {begin, std::min(next, end) - begin};
    }
    /// The number of runs of pages whose home alternately is and is not `rank`, or a little more.
    std::size_t runs() const { return placement_ == Placement::cyclic ? 2 * (pages_ / ranks_) + 3 : 3; }

private:
    Placement placement_;
    std::size_t pages_, ranks_, each_;
};

} // namespace kumiki::dsm
