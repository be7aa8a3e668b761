#pragma once

#include <chrono>
#include <memory>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// The process manager that started this process, recognized by its environment variables.
enum class ProcessManager {
    none,
    pmix,        ///< Open MPI's mpirun, srun --mpi=pmix
    pmi,         ///< MPICH's mpirun, srun --mpi=pmi2
    pmi_on_port, ///< mpirun -pmi-port of MPICH, which Kumiki does not support
    bare_srun,   ///< srun without any PMI, for several tasks
};

/// Finds the innermost one: inside a Slurm allocation, mpirun leaves the variables of both, and then mpirun's count.
ProcessManager find_process_manager();

/// Whether the program has used MPI in this process, and has called MPI_Finalize.
bool has_finalized_mpi();

/// Opens the key-value space of PMIx in this process, through the module kumiki-pmix.so.
Result<std::unique_ptr<KeyValueSpace>> open_pmix();

/// Opens the key-value space of the process manager; null when there is none, so that the process is a job of its own.
/// Fails when the process manager cannot be used, or does not answer within `patience`.
Result<std::unique_ptr<KeyValueSpace>> open_space(std::chrono::milliseconds patience);

} // namespace kumiki::fabric
