#pragma once

#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <string_view>

#include "fabric/module.hpp"
#include "fabric/wireup/pmi1.hpp"
#include "fabric/wireup/pmi2.hpp"
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

/// A whole number from the environment; -1: it is not there, or none.
inline int number_in_environment(const char* name) {
    const char* text = std::getenv(name);
    if (text == nullptr) return -1;
    const std::string_view digits(text);
    int number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc{} && end == digits.data() + digits.size() ? number : -1;
}

/// The innermost one: mpirun inside an allocation of Slurm leaves the signs of both, and Slurm's alone count for
/// nothing then.
inline ProcessManager find_process_manager() {
    const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
    if (is_set("PMIX_NAMESPACE") && is_set("PMIX_RANK")) return ProcessManager::pmix;
    if (is_set("PMI_FD") && is_set("PMI_RANK") && is_set("PMI_SIZE")) return ProcessManager::pmi;
    if (is_set("PMI_PORT")) return ProcessManager::pmi_on_port;
    if (is_set("SLURM_PROCID") && number_in_environment("SLURM_STEP_NUM_TASKS") > 1) return ProcessManager::bare_srun;
    return ProcessManager::none;
}

inline Result<std::unique_ptr<KeyValueSpace>> open_pmix() {
    const auto function = load({.file = "kumiki-pmix.so",
                                .function = "kumiki_open_pmix",
                                .needed = "the launcher has started this program with PMIx",
                                .to_build = "libpmix-dev",
                                .to_run = "libpmix2"});
    if (!function) return tl::unexpected(function.error());
    return reinterpret_cast<OpenPmix>(*function)();
}

/// The key-value space of the process manager; null when there is none, so that the process is a job of its own.
inline Result<std::unique_ptr<KeyValueSpace>> open_space() {
    switch (find_process_manager()) {
    case ProcessManager::none: break;
    case ProcessManager::pmix: return open_pmix();
    case ProcessManager::pmi: {
        // srun speaks PMI-2 and PMI-1, and names its job; MPICH's mpirun names none. PMI-1 needs no library.
        if (std::getenv("PMI_JOBID") != nullptr && Pmi2::is_loaded()) return Pmi2::open();
        const int descriptor = number_in_environment("PMI_FD"), rank = number_in_environment("PMI_RANK"),
                  size = number_in_environment("PMI_SIZE");
        if (descriptor < 0 || rank < 0 || rank >= size)
            return fail(KUMIKI_ERROR_ENVIRONMENT,
                        "PMI_FD, PMI_RANK and PMI_SIZE contradict each other: they are set by the launcher, not by "
                        "hand");
        return Pmi1::open(descriptor, rank, size);
    }
    case ProcessManager::pmi_on_port:
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    "the launcher offers PMI on a port (PMI_PORT), which Kumiki does not speak; start the program by "
                    "mpirun without -pmi-port");
    case ProcessManager::bare_srun:
        return fail(
            KUMIKI_ERROR_ENVIRONMENT,
            "srun has started several tasks without telling them how to find each other; use srun --mpi=pmix or "
            "--mpi=pmi2, or set KUMIKI_SIZE=1 if each task is a job of its own");
    }
    return nullptr;
}

} // namespace kumiki::fabric
