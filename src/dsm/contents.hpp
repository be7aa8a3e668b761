#pragma once

#include <cstddef>
#include <span>

#include "collective/collectives.hpp"

namespace kumiki::dsm {

/// Gives the memory of a new array, `frames`, at every rank the contents that `from` has at the root, rank 0.
/// Collective. Pages of zeros, which are most of a program's variables, are neither sent nor touched. `from` consists
/// of whole pages.
Result<> copy_contents(collective::Collectives& collectives, bool is_root, std::byte* frames,
                       std::span<const std::byte> from);

} // namespace kumiki::dsm
