#pragma once

#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/common/mixed.hpp"
#include "kernels/diffusion/direct.hpp"
#include "kernels/diffusion/jacobi.hpp"

namespace kumiki::kernels::diffusion {

/// What a run leaves.
struct Result {
    std::uint64_t checksum = 0;     ///< of all values: the same bits for every number of workers
    std::uint64_t wrong_points = 0; ///< beyond the tolerances of Problem
};

/// The scheme on the workers of a crew, each with a contiguous share of the lines along y. How they solve line systems
/// is the LineSolver, Direct or Jacobi of the crew.
template <class LineSolver>
class Solver {
public:
    using CrewType = typename LineSolver::CrewType;
    using Worker = typename CrewType::Worker;
    using Lines = typename LineSolver::Lines;

    /// Collective. Throws std::runtime_error where there are more workers than lines.
    Solver(CrewType& crew, const Problem& problem)
        : crew_(crew),
          problem_(problem),
          line_solver_(crew, problem),
          lines_(static_cast<std::size_t>(crew.local_size())) {
        share_of(0); // throws, if at all, here and not within the workers
        // Every worker makes its own lines, so that their memory lies near it.
        crew.run([&](Worker& worker) {
            lines(worker) = std::make_unique<Lines>(problem.inner(), share_of(worker.index()).size());
        });
    }

    /// All time steps, from the initial mode; the times of the job.
    RunTimes run() {
        crew_.run([&](Worker& worker) { reset(worker); });
        return crew_.run([&](Worker& worker) { line_solver_.run(worker, *lines(worker)); });
    }

    /// What the last run left, at every rank.
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
    Range share_of(int worker) const { return rows_of_worker(problem_.inner(), crew_.size(), worker); }

    void reset(const Worker& worker) {
        const Range own = share_of(worker.index());
        for (std::size_t i = 0; i < problem_.inner(); ++i)
            for (std::size_t line = 0; line < own.size(); ++line)
                lines(worker)->at(i, line) = problem_.along_y(i) * problem_.along_x(own.begin + line);
    }

    Result inspect(const Worker& worker) {
        const double scheme = problem_.scheme_decay(), exact = problem_.exact_decay();
        const double rounding = problem_.rounding_tolerance(), error = problem_.scheme_tolerance() + rounding;
        const Range own = share_of(worker.index());
        Result result;
        for (std::size_t i = 0; i < problem_.inner(); ++i)
            for (std::size_t line = 0; line < own.size(); ++line) {
                const double mode = problem_.along_y(i) * problem_.along_x(own.begin + line);
                const double value = lines(worker)->at(i, line);
                const bool right =
                    std::abs(value - scheme * mode) <= rounding && std::abs(value - exact * mode) <= error;
                if (!right) ++result.wrong_points;
                result.checksum +=
                    mixed(std::bit_cast<std::uint64_t>(value) ^ mixed(i * problem_.size + own.begin + line));
            }
        return result;
    }

    CrewType& crew_;
    Problem problem_;
    LineSolver line_solver_;
    std::vector<std::unique_ptr<Lines>> lines_; ///< by worker of this process
};

} // namespace kumiki::kernels::diffusion
