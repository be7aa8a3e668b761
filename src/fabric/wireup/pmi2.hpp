#pragma once

#include <memory>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// Whether Slurm's PMI-2 library is loaded in this process, because its program or an MPI library was linked with it.
bool pmi2_is_loaded();

/// PMI-2 through that library, for a process that has loaded it because its MPI library uses it: Kumiki and the MPI
/// library then share one connection to srun, which speaks only one protocol with each process.
Result<std::unique_ptr<KeyValueSpace>> open_pmi2();

} // namespace kumiki::fabric
