#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "collective/collectives.hpp"
#include "error/result.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::dsm {

/// The order of the ranks' intervals, as locks make it: vector clocks of this rank and of the locks. Only the race
/// check uses them. The notices of locks tell a rank more than one lock orders, because a manager has one log for all
/// its locks; and what that order hides would be no race. Thread-safe.
///
/// The clock of a lock lies at its manager. Whoever holds the lock alone reads and writes it, by the fabric, so nothing
/// guards it but the lock: the holder has written it before it passes the lock on.
class LockClocks {
public:
    LockClocks(fabric::Fabric& fabric, collective::Collectives& collectives)
        : fabric_(fabric), collectives_(collectives), own_(static_cast<std::size_t>(fabric.size())) {}

    /// Collective; must be called before the others.
    Result<> allocate();

    /// This rank's clock: by rank, the last interval that has ended before now.
    std::vector<std::uint64_t> now() const;
    /// An interval of this rank ends; returns the clock with it.
    std::vector<std::uint64_t> end_interval();
    /// This rank has this lock: its clock follows those who had it before.
    Result<> acquired(int lock);
    /// This rank is about to pass the lock on.
    Result<> releasing(int lock);

private:
    std::uint64_t* row(int lock) const;

    fabric::Fabric& fabric_;
    collective::Collectives& collectives_;
    mutable std::mutex mutex_;
    std::vector<std::uint64_t> own_;
    std::uint64_t* rows_ = nullptr; ///< in a region: a clock for each lock that this rank manages
};

} // namespace kumiki::dsm
