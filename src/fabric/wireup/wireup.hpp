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

/// The largest card, in bytes, that kumiki-run forwards.
inline constexpr std::size_t longest_card = std::size_t{64} << 10;

/// The function by which ranks of several hosts find each other: each rank passes its card and gets the cards of all
/// ranks in rank order. Collective.
using Wireup = std::function<Result<std::vector<std::vector<std::byte>>>(const std::vector<std::byte>& own)>;

/// The exchange through kumiki-run's socket, which the settings name (KUMIKI_WIREUP). The call fails when there is no
/// such socket, when the launcher ends, or when no cards arrive.
Wireup wireup_of(const Settings& settings);

/// The job of a rank that was started by a launcher other than kumiki-run (mpirun, srun).
struct OthersJob {
    std::shared_ptr<const shm::Segment> segment;
    Wireup wireup;
};

/// Looks for such a launcher and forms a job with the other ranks that it has started, then writes rank, size, threads
/// and processors into the settings. Returns nothing when there is no such launcher, or when it has started only one
/// process. When one rank fails to share memory, all ranks fail. Collective.
Result<std::optional<OthersJob>> meet_by_other_launcher(Settings& settings);

} // namespace kumiki::fabric
