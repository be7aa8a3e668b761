#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "collective/collectives.hpp"
#include "dsm/lock_clocks.hpp"
#include "dsm/races.hpp"
#include "error/result.hpp"
#include "explain/record.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::dsm {

/// KUMIKI_SHARED_CHECK (docs/decisions/shared-check.md): finds bytes that two ranks wrote with no order between. Each
/// rank notes which bytes of which pages it wrote in each of its intervals. At a barrier, which orders everything
/// before it, the ranks tell rank 0 their writes to those pages that several of them wrote.
class RaceCheck {
public:
    /// `record` is null where nobody explains; then rank 0 says at the end only how many races there are.
    RaceCheck(fabric::Fabric& fabric, collective::Collectives& collectives, explain::Record* record)
        : fabric_(fabric), collectives_(collectives), record_(record), clocks_(fabric, collectives) {}

    LockClocks& clocks() { return clocks_; }

    /// Where a write happens that does not fault: the parallel region.
    Writer region() const { return {record_ != nullptr ? record_->region() : 0, Writer::nowhere}; }
    /// Notes what this rank has written to a page since the last time. `mask`: a bit for each byte.
    void wrote(std::uint32_t array, std::uint64_t page, Writer first, std::span<const std::uint64_t> mask);
    /// An interval of this rank ends: what was noted has been written in it.
    void end_interval();
    /// The same at a barrier: what is noted from now on is ordered behind what was.
    void end_epoch();

    /// Collective, behind the barrier.
    using AddressOf = std::function<std::uint64_t(std::uint32_t array)>;
    Result<> meet(std::uint64_t barriers, const AddressOf& address_of);
    /// Rank 0 says what there was. Must be called after the last meet().
    void finish() const;
    /// At rank 0: what has been found so far.
    const Races& races() const { return races_; }

private:
    struct Noted {
        std::uint32_t array;
        std::uint64_t page;
        std::size_t interval; ///< in `seen`
        Writer first;
        std::size_t mask, words; ///< in `masks`
    };
    /// The writes between two barriers.
    struct Epoch {
        std::vector<Noted> noted;
        std::vector<std::uint64_t> masks;
        std::vector<std::vector<std::uint64_t>> seen; ///< by interval: the clock when it ended
        bool complete = true;                         ///< whether there was room for all
    };
    /// Pages of an array that a rank wrote.
    struct Run {
        std::uint64_t array, first, count;
    };
    using Page = std::pair<std::uint64_t, std::uint64_t>; ///< of an array

    /// Of masks between two barriers: 256 MiB, enough for 2 GiB of pages that are written once. A program that takes
    /// locks all the time without a barrier writes its pages in very many intervals.
    static constexpr std::size_t most_words = std::size_t{1} << 25;

    void close_interval();
    static std::vector<Run> runs_of(const Epoch& epoch);
    Result<std::vector<Run>> exchange(std::span<const Run> own, bool complete);
    static std::vector<Page> written_by_several(std::span<const Run> runs);
    std::vector<std::uint64_t> pack(const Epoch& epoch, std::span<const Page> pages) const;
    Result<> collect(std::span<const std::uint64_t> own, std::uint64_t barriers, const AddressOf& address_of);

    fabric::Fabric& fabric_;
    collective::Collectives& collectives_;
    explain::Record* record_;
    LockClocks clocks_;
    std::mutex mutex_; ///< guards the two epochs
    Epoch now_, ended_;
    Races races_;
};

} // namespace kumiki::dsm
