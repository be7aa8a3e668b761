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

/// The most bytes of a card that kumiki-run hands on.
inline constexpr std::size_t longest_card = std::size_t{64} << 10;

/// How the ranks of several hosts find each other: each gives its card, and gets those of all ranks, in their order.
/// Collective.
using Wireup = std::function<Result<std::vector<std::vector<std::byte>>>(const std::vector<std::byte>& own)>;

/// The way that the settings tell: through kumiki-run's socket (KUMIKI_WIREUP). Fails, when called, when there is none,
/// the launcher ends, or what comes are no cards.
Wireup wireup_of(const Settings& settings);

/// What a rank joins that another launcher than kumiki-run has started (mpirun, srun).
struct OthersJob {
    std::shared_ptr<const shm::Segment> segment;
    Wireup wireup;
};

/// Looks for such a launcher and meets the other ranks that it has started; then writes rank, size, threads and
/// processors into the settings. Nothing when there is no such launcher, or when it has started one process only. All
/// ranks fail together where one of them fails to share memory. Collective.
Result<std::optional<OthersJob>> meet_by_other_launcher(Settings& settings);

} // namespace kumiki::fabric
