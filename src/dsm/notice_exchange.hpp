#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "collective/collectives.hpp"
#include "dsm/notice.hpp"
#include "error/result.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::dsm {

/// What the ranks have told at a barrier, by rank (Released).
struct Exchanged {
    collective::Collectives::Collected bytes; ///< of what follows
    std::vector<std::vector<Notice>> notices;
    std::vector<std::span<const std::byte>> changes, messages;

    bool any_notices() const;
    bool any_changes() const;
    void copy_message(int rank, std::span<std::byte> into) const;
};

/// Collective, and a barrier: every rank tells the others what it has released.
Result<Exchanged> exchange_notices(const fabric::Fabric& fabric, collective::Collectives& collectives,
                                   const Released& own);

} // namespace kumiki::dsm
