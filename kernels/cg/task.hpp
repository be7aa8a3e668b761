#pragma once

#include <string>
#include <vector>

#include "kernels/cg/problem.hpp"
#include "kernels/common/job_report.hpp"
#include "measure/sampling.hpp"

namespace kumiki::kernels::cg {

/// What the command line asks for.
struct Task {
    std::string form = "sequential"; ///< "mpi" in the MPI programs, where it is not an option
    Problem problem = problems.front();
    int threads = 0;          ///< of the form openmp; 0: one per core
    bool all_threads = false; ///< of the form hybrid: compute with all threads even where there are more than cores
    bool hidden = false;      ///< of the form message: also measure how much of the communication computation hides
    measure::Budget budget;
};

/// Reads the command line of `cg`, or of the MPI program named `name`; ends the process on --help or wrong usage.
Task parse_task(int argc, char** argv);
Task parse_mpi_task(const char* name, int argc, char** argv);

/// What the rows of this task have in common, before it is known whether the result is right.
JobReport report_of(const Task& task, const std::string& implementation, int ranks, int threads);

/// The runs of one form, and whether every one of them ended with the published zeta.
struct Outcome {
    std::vector<RunTimes> runs;
    bool valid = true;
};

/// Prints the rows; returns the exit code.
int conclude(JobReport report, const Outcome& outcome);

} // namespace kumiki::kernels::cg
