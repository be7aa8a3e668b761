#pragma once

#include "kernels/common/task.hpp"
#include "kernels/laplace/reference.hpp"
#include "kernels/laplace/solver.hpp"

namespace kumiki::kernels::laplace {

/// Which threads of a rank exchange rows with other ranks, in the form `hybrid`.
enum class Communication {
    master, ///< only the first one (COMPaS paper, section 5.3)
    edge,   ///< those that own the rows
};

/// The options of the command line.
struct Task {
    Problem problem;
    FormChoice choice; ///< ignored by the MPI programs
    Communication communication = Communication::master;
    bool overlap = false;
    bool hidden = false; ///< also measure how much of the communication the computation hides; message and MPI only
    measure::Budget budget;
};

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// The report of a task, without a verdict.
JobReport report_of(const Task& task, const Workers& workers);

/// Measures the task on a crew, checks what it computed, and lets rank 0 print the rows; returns the exit code.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    const Problem& problem = task.problem;
    Solver<C> solver(crew, problem, task.overlap);
    const auto runs = sample_crew(crew, task.budget, [&] { return solver.run(problem.iterations); });

    // Each cell of a Jacobi step depends on old values only, so every form must produce exactly the bits of the
    // sequential one. The grid of the last sample is checked, unless the sequential run would take too long for it.
    const std::size_t iterations = checked_iterations(problem);
    if (iterations != problem.iterations) solver.run(iterations);
    const std::uint64_t checksum = solver.checksum();
    bool valid = false;
    if (crew.rank() == 0) {
        const Reference reference = compute_reference(problem);
        valid = reference.converges && checksum == reference.checksum;
    }
    const JobReport report = report_of(task, crew.workers());
    const int code = conclude(crew, report, runs, valid);
    if (task.hidden)
        print_hidden(crew, report, code == measure::success, task.budget,
                     [&](Extent extent) { return solver.run(problem.iterations, extent); });
    return code;
}

} // namespace kumiki::kernels::laplace
