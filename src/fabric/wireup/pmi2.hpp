#pragma once

#include <memory>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// Whether the process has Slurm's library of PMI-2: as something that its program or an MPI library was linked with.
bool pmi2_is_loaded();

/// PMI-2 through that library, for a process that has it because its MPI library uses it: the two then share one
/// conversation with srun, which speaks one dialect with each process.
Result<std::unique_ptr<KeyValueSpace>> open_pmi2();

} // namespace kumiki::fabric
