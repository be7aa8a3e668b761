#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "error/result.hpp"
#include "fabric/shm/segment.hpp"
#include "settings/settings.hpp"

namespace kumiki::fabric {

/// The most bytes that a card which kumiki-run passes on may have.
inline constexpr std::size_t longest_card = std::size_t{64} << 10;

/// How the ranks of several hosts find each other: each passes its card, and gets the cards of all ranks, in the order
/// of the ranks. Collective.
using Wireup = std::function<Result<std::vector<std::vector<std::byte>>>(const std::vector<std::byte>& own)>;

/// The exchange through kumiki-run's socket, which the settings name (KUMIKI_WIREUP). Its call fails when there is no
/// such socket, when the launcher ends, or when no cards come.
Wireup wireup_of(const Settings& settings);

/// The job of a rank that another launcher than kumiki-run has started (mpirun, srun).
struct OthersJob {
    std::shared_ptr<const shm::Segment> segment;
    Wireup wireup;
};

/// Looks for such a launcher and joins with the other ranks that it has started; then writes rank, size, threads and
/// processors into the settings. Returns nothing when there is no such launcher, or when it has started only one
/// process. When one rank fails to share memory, all ranks fail. Collective.
Result<std::optional<OthersJob>> meet_by_other_launcher(Settings& settings);

} // namespace kumiki::fabric
