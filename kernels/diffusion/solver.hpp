#pragma once

#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/common/mixed.hpp"
#include "kernels/diffusion/direct.hpp"
#include "kernels/diffusion/jacobi.hpp"

namespace kumiki::kernels::diffusion {

/// The result of a run.
struct Result {
    std::uint64_t checksum = 0;     ///< of all values: the same bits for every number of workers
    std::uint64_t wrong_points = 0; ///< beyond the tolerances of Problem
};

/// The scheme on the workers of a crew, each with a tile of the grid, of which a row is a line along y or a part of
/// one. The LineSolver, Direct or Jacobi of the crew, solves the line systems.
template <class LineSolver>
class Solver {
public:
    using CrewType = typename LineSolver::CrewType;
    using Worker = typename CrewType::Worker;
    using Lines = typename LineSolver::Lines;
    using Memory = typename CrewType::template Memory<double>;
    static_assert(MemoryFor<Memory, Worker, double>);

    /// Collective. Throws std::runtime_error if the grid cannot be cut for so many workers.
    Solver(CrewType& crew, const Problem& problem, const SplitChoice& split = SplitChoice::rows_alone())
        : crew_(crew),
          problem_(problem),
          cut_(problem.inner(), problem.inner(), crew.size(), split),
          line_solver_(crew, problem, cut_),
          memory_(crew, longest_storage(cut_, crew.size(), Lines::storage_length)),
          lines_(static_cast<std::size_t>(crew.local_size())) {
        // Every worker allocates its own lines, so that their memory is near it.
        crew.run([&](Worker& worker) {
            lines(worker) = std::make_unique<Lines>(cut_.tile(worker.index()), memory_.of(worker));
        });
    }

    /// Performs all time steps, from the initial mode; returns the times of the job.
    RunTimes run() {
        crew_.run([&](Worker& worker) { reset(worker); });
        return crew_.run([&](Worker& worker) { line_solver_.run(worker, *lines(worker)); });
    }

    /// The result of the last run, at every rank.
    Result result() {
        Result result;
        crew_.run([&](Worker& worker) {
            const Result own = inspect(worker);
            const Result all{worker.sum(own.checksum), worker.sum(own.wrong_points)};
            if (worker.local() == 0) result = all;
        });
        return result;
    }

private:
    std::unique_ptr<Lines>& lines(const Worker& worker) { return lines_[static_cast<std::size_t>(worker.local())]; }

    /// Calls visit(value, mode, number) for each point of a worker's tile, with the initial mode there and a unique
    /// number.
    template <class Visit>
    void for_points(const Worker& worker, Visit visit) {
        const auto& [rows, columns] = cut_.tile(worker.index());
        for (std::size_t column = columns.begin; column < columns.end; ++column)
            for (std::size_t row = rows.begin; row < rows.end; ++row)
                visit(lines(worker)->at(row, column), problem_.along_y(column - 1) * problem_.along_x(row - 1),
                      column * problem_.size + row);
    }

    void reset(const Worker& worker) {
        for_points(worker, [](double& value, double mode, std::size_t) { value = mode; });
    }

    Result inspect(const Worker& worker) {
        const double scheme = problem_.scheme_decay(), exact = problem_.exact_decay();
        const double rounding = problem_.rounding_tolerance(), error = problem_.scheme_tolerance() + rounding;
        Result result;
        for_points(worker, [&](double value, double mode, std::size_t number) {
            const bool right = std::abs(value - scheme * mode) <= rounding && std::abs(value - exact * mode) <= error;
            if (!right) ++result.wrong_points;
            result.checksum += mixed(std::bit_cast<std::uint64_t>(value) ^ mixed(number));
        });
        return result;
    }

    CrewType& crew_;
    Problem problem_;
    Cut cut_;
    LineSolver line_solver_;
    Memory memory_;
    std::vector<std::unique_ptr<Lines>> lines_; ///< by worker of this process
};

} // namespace kumiki::kernels::diffusion
