#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace kumiki::dsm {

/// Where in the program an interval between barriers begins; 0: unknown.
struct IntervalPlace {
    std::uint64_t visit = 0; ///< tells it from others that begin at the same code
    std::uint64_t code = 0;
};

/// Which pages of an array this rank will need in an interval between barriers, by what it needed in earlier intervals
/// that began at the same place of the program: loops repeat. (Bianchini, Pinto and Amorim, "Data prefetching for
/// software DSMs", 1998, predict by the two intervals before, whatever their place.)
///
/// A page that has been fetched in advance does not fault, so nobody sees whether it was needed. Therefore some
/// intervals expect nothing and learn from their faults, and others expect what was learned only when the last two that
/// learned had needed nearly the same. What the same visit needed counts for more than what the same code did; an
/// interval that learns does so for both. One thread at a time uses this.
class AccessHistory {
public:
    using PageList = std::vector<std::size_t>; ///< in ascending order
    struct Accesses {
        PageList fetched; ///< pages that were not here
        PageList written; ///< pages whose first write was noticed; they may be among the others, too
        std::size_t count() const { return fetched.size() + written.size(); }
    };

    /// An interval begins at a place of the program. Returns what is expected of it, valid until end().
    const Accesses& begin(IntervalPlace place);
    /// The interval has ended. `faulted`: what was accessed and not expected. `dropped`: pages that this rank has lost
    /// at locks meanwhile, which it would have to fetch again anyway.
    void end(Accesses faulted, const PageList& dropped);

private:
    struct Interval {
        Accesses expected;          ///< from the last one that learned
        unsigned left = 0;          ///< so many more will expect that before one learns again
        unsigned period = shortest; ///< `left` after the next one that learns the same
        void learn(Accesses accesses);
    };
    using Intervals = std::unordered_map<std::uint64_t, Interval>;
    static constexpr unsigned shortest = 4, longest = 64;
    /// In a program with more visits, or with more places in its code, nothing is expected at the others.
    static constexpr std::size_t most_places = 4096;

    Interval* expecting(Intervals& intervals, std::uint64_t place);
    void learn(Intervals& intervals, std::uint64_t place, const Accesses& accesses);

    Intervals by_visit_, by_code_;
    IntervalPlace now_;             ///< of the present interval
    Interval* expecting_ = nullptr; ///< by which the present interval expects; null: it learns
};

} // namespace kumiki::dsm
