#include "fabric/wireup/manager.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <string_view>

#include "fabric/module.hpp"
#include "fabric/wireup/pmi1.hpp"
#include "fabric/wireup/pmi2.hpp"
#include "fabric/wireup/proxy.hpp"
#include "text/text.hpp"

namespace kumiki::fabric {
namespace {

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

/// Returns a whole number from the environment, or -1 when the variable is missing or not a number.
int number_in_environment(const char* name) {
    const char* digits = std::getenv(name);
    return digits == nullptr ? -1 : text::number<int>(digits).value_or(-1);
}

Module part_for_pmix(const char* file, const char* function) {
    return {.file = file,
            .function = function,
            .needed = "the launcher has started this program with PMIx",
            .to_build = "libpmix-dev",
            .to_run = "libpmix2"};
}

/// Open MPI 5 omits PMIx_Init where its process has already called it, and then lacks the data that the call would have
/// returned ("local rank: Not found"); and PMIx 5 cannot be ended and begun again, because its second PMIx_Finalize
/// frees what it no longer owns. So Kumiki does not use PMIx inside a rank that such a launcher has started; a separate
/// process (the proxy) uses it instead. Launchers with PMIx 4 give the location of a rank only to the first process
/// that connects on its behalf, and their MPI, Open MPI 4, shares PMIx within the process.
Result<std::unique_ptr<KeyValueSpace>> open_pmix_beside_mpi() {
    const char* version = std::getenv("PMIX_VERSION"); // version of the launcher's PMIx, such as 5.0.7a1
    constexpr int first_that_needs_a_proxy = 5;
    if (version == nullptr || std::atoi(version) < first_that_needs_a_proxy) return open_pmix();
    const auto program = locate(part_for_pmix("kumiki-pmix-proxy", nullptr));
    if (!program) return tl::unexpected(program.error());
    return open_proxy(*program);
}

/// srun supports PMI-2 and PMI-1 and sets a job id; MPICH's mpirun sets none. PMI-1 needs no library.
Result<std::unique_ptr<KeyValueSpace>> open_pmi(std::chrono::milliseconds patience) {
    if (is_set("PMI_JOBID") && pmi2_is_loaded()) return open_pmi2();
    const int descriptor = number_in_environment("PMI_FD"), rank = number_in_environment("PMI_RANK"),
              size = number_in_environment("PMI_SIZE");
    if (descriptor < 0 || rank < 0 || rank >= size)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    "PMI_FD, PMI_RANK and PMI_SIZE contradict each other: they are set by the launcher, not by hand");
    return open_pmi1(descriptor, rank, size, patience);
}

} // namespace

bool has_finalized_mpi() {
    const auto finalized = reinterpret_cast<int (*)(int*)>(dlsym(RTLD_DEFAULT, "MPI_Finalized"));
    int yes = 0;
    return finalized != nullptr && finalized(&yes) == 0 && yes != 0;
}

Result<std::unique_ptr<KeyValueSpace>> open_pmix() {
    const auto function = load(part_for_pmix("kumiki-pmix.so", "kumiki_open_pmix"));
    if (!function) return tl::unexpected(function.error());
    return reinterpret_cast<OpenPmix>(*function)();
}

ProcessManager find_process_manager() {
    if (is_set("PMIX_NAMESPACE") && is_set("PMIX_RANK")) return ProcessManager::pmix;
    if (is_set("PMI_FD") && is_set("PMI_RANK") && is_set("PMI_SIZE")) return ProcessManager::pmi;
    if (is_set("PMI_PORT")) return ProcessManager::pmi_on_port;
    if (is_set("SLURM_PROCID") && number_in_environment("SLURM_STEP_NUM_TASKS") > 1) return ProcessManager::bare_srun;
    return ProcessManager::none;
}

Result<std::unique_ptr<KeyValueSpace>> open_space(std::chrono::milliseconds patience) {
    switch (find_process_manager()) {
    case ProcessManager::none: break;
    case ProcessManager::pmix: return open_pmix_beside_mpi();
    case ProcessManager::pmi: return open_pmi(patience);
    case ProcessManager::pmi_on_port:
        return fail(KUMIKI_ERROR_ENVIRONMENT, "the launcher offers PMI on a port (PMI_PORT), which Kumiki does not "
                                              "speak; start the program by mpirun without -pmi-port");
    case ProcessManager::bare_srun:
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    "srun has started several tasks without telling them how to find each other; use srun --mpi=pmix "
                    "or --mpi=pmi2, or set KUMIKI_SIZE=1 if each task is a job of its own");
    }
    return nullptr;
}

} // namespace kumiki::fabric
