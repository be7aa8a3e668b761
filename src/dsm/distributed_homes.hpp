#pragma once

#include <cstddef>
#include <vector>

#include "dsm/homes.hpp"
#include "settings/distribution.hpp"

namespace kumiki::dsm {

/// Bytes of an array that are distributed: `bytes` of them, from `begin` on. Only pages before `end` count.
struct Distributed {
    std::size_t begin, bytes, end;
};

/// Appends a page, or makes the last run longer.
void append_home(std::vector<HomeRun>& runs, std::size_t page, int rank);

/// Appends the homes of the pages that begin in these bytes. A page belongs to the rank that has the byte with which it
/// begins.
void append_homes(std::vector<HomeRun>& runs, const Distribution& distribution, const Distributed& where,
                  std::size_t page_bytes, int ranks);

} // namespace kumiki::dsm
