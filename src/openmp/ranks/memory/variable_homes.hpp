#pragma once

#include <span>
#include <vector>

#include "dsm/homes.hpp"
#include "openmp/ranks/memory/image.hpp"
#include "settings/distribution.hpp"

namespace kumiki::openmp {

/// The pages of these variables, as many as lie in them as a whole, in order. A page belongs to the rank that has the
/// byte with which it begins. Besides, rank 0 keeps the pages of the libraries' variables.
std::vector<dsm::HomeRun> home_runs(std::span<const VariableHomes> variables, const Image& image, int ranks);

} // namespace kumiki::openmp
