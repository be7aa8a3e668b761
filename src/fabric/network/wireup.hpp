#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "error/result.hpp"
#include "settings/settings.hpp"

namespace kumiki::fabric {

/// How the ranks of several hosts find each other: each gives its card, and gets those of all ranks, in their order.
/// Collective.
using Wireup = std::function<Result<std::vector<std::vector<std::byte>>>(const std::vector<std::byte>& own)>;

/// The way that the settings tell: through the launcher's socket (KUMIKI_WIREUP). Fails, when called, with a sentence.
Wireup wireup_of(const Settings& settings);

} // namespace kumiki::fabric
