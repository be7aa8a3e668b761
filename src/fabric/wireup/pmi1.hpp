#pragma once

#include <chrono>
#include <memory>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// PMI-1, the protocol of MPICH's process manager (hydra), which srun --mpi=pmi2 supports, too: lines of `name=value`
/// words on a descriptor that the process inherited. An MPI library may use the descriptor as well, before or after
/// Kumiki. Therefore Kumiki does not close it; each use begins with `init`, which hydra answers any number of times;
/// and `finalize`, which hydra answers once, is not sent before the process ends.
///
/// A process manager that does not answer within `patience`, has ended, or gives an unexpected answer makes this and
/// all later calls fail. Only the fence waits as long as the other ranks need.
Result<std::unique_ptr<KeyValueSpace>> open_pmi1(int descriptor, int rank, int size,
                                                 std::chrono::milliseconds patience);

} // namespace kumiki::fabric
