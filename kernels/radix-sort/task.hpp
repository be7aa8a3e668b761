#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/common/job_report.hpp"
#include "kernels/radix-sort/keys.hpp"
#include "kernels/radix-sort/local_sort.hpp"
#include "kernels/radix-sort/messages.hpp"
#include "measure/sampling.hpp"

namespace kumiki::kernels::radix_sort {

/// What the command line asks for.
struct Task {
    std::string form = "sequential"; ///< "mpi" in the MPI programs, where it is not an option
    std::uint64_t keys = std::uint64_t{4} << 20;
    Distribution distribution = Distribution::uniform;
    Kernel kernel = Kernel::vector;
    int threads = 0;          ///< of the forms openmp and library; 0: one per core
    bool all_threads = false; ///< of the form hybrid: compute with all threads even where there are more than cores
    bool messages = false;    ///< of the forms with ranks: also what each of them sends
    measure::Budget budget;

    int threads_or_all_cores() const;
};

/// Reads the command line of `radix-sort`, or of the MPI program named `name`; ends the process on --help or wrong
/// usage.
Task parse_task(int argc, char** argv);
Task parse_mpi_task(const char* name, int argc, char** argv);

/// What the rows of this task have in common, before it is known whether the result is right.
JobReport report_of(const Task& task, const std::string& implementation, int ranks, int threads);

/// The runs of one implementation, and whether every one of them sorted the keys.
struct Outcome {
    std::vector<RunTimes> runs;
    bool valid = true;
    std::vector<MessageSizes> messages = {}; ///< of each sort, the warm-up left out; empty where nobody sends
};

/// Prints the rows; returns the exit code.
int conclude(const Task& task, JobReport report, const Outcome& outcome);

} // namespace kumiki::kernels::radix_sort
