#pragma once

#include <chrono>
#include <memory>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// The process manager that has started this process, by the signs that it leaves in the environment.
enum class ProcessManager {
    none,
    pmix,        ///< Open MPI's mpirun, srun --mpi=pmix
    pmi,         ///< MPICH's mpirun, srun --mpi=pmi2
    pmi_on_port, ///< mpirun -pmi-port of MPICH, which we do not speak
    bare_srun,   ///< srun without any PMI, for several tasks
};

/// The innermost one: mpirun inside an allocation of Slurm leaves the signs of both, and Slurm's alone count for
/// nothing then.
ProcessManager find_process_manager();

/// That of PMIx, begun in this process by the module kumiki-pmix.so.
Result<std::unique_ptr<KeyValueSpace>> open_pmix();

/// The key-value space of the process manager; null when there is none, so that the process is a job of its own. Fails
/// when it is one that cannot be used, or that does not answer within `patience`.
Result<std::unique_ptr<KeyValueSpace>> open_space(std::chrono::milliseconds patience);

} // namespace kumiki::fabric
