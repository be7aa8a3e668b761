#pragma once

#include <vector>

#include "openmp/ranks/memory/objects.hpp"

namespace kumiki::openmp {

/// From now on a sentence says what is probable if the program, or one of these libraries, whose memory is private to
/// the process, uses an address at which this rank has nothing, before the process ends as it would without. Memory
/// that all ranks see must be claimed after this call: its faults are none of these.
void explain_unmapped_faults(int rank, const std::vector<Object>& libraries);

} // namespace kumiki::openmp
