#pragma once

#include <chrono>
#include <memory>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// PMI-1, the protocol of MPICH's process manager (hydra), which srun --mpi=pmi2 speaks too: lines of `name=value`
/// words on a descriptor that the process inherited. An MPI library may use the descriptor as well, before us or after
/// us: therefore it is not closed, each use begins with `init`, which hydra answers as often as it is asked, and
/// `finalize`, which hydra answers once, is not sent before the end of the process.
///
/// A process manager that does not answer within `patience`, has gone, or answers anything else makes this and all
/// later calls fail. Only the fence waits for as long as the other ranks need.
Result<std::unique_ptr<KeyValueSpace>> open_pmi1(int descriptor, int rank, int size,
                                                 std::chrono::milliseconds patience);

} // namespace kumiki::fabric
