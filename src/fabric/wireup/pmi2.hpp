#pragma once

#include <memory>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// Whether Slurm's PMI-2 library is loaded in this process, because the program or an MPI library is linked with it.
bool pmi2_is_loaded();

/// Opens PMI-2 through that library, for a process whose MPI library has loaded it. Kumiki and the MPI library then
/// share one connection to srun, which speaks only one protocol with each process.
Result<std::unique_ptr<KeyValueSpace>> open_pmi2();

} // namespace kumiki::fabric
