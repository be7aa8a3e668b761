#pragma once

#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/common/mixed.hpp"
#include "kernels/common/red_black.hpp"
#include "kernels/laplace-sor/problem.hpp"
#include "kernels/laplace-sor/stencil.hpp"

namespace kumiki::kernels::laplace_sor {

/// What a run leaves.
struct Result {
    std::size_t sweeps = 0;
    std::uint64_t checksum = 0;     ///< of all points: the same bits for every number of workers
    std::uint64_t wrong_points = 0; ///< beyond the tolerances of Problem
};

/// The solution on the workers of a crew, each with contiguous rows.
template <Crew C>
class Solver {
public:
    using Worker = typename C::Worker;

    /// Collective. Throws std::runtime_error where there are more workers than rows.
    Solver(C& crew, const Problem& problem)
        : crew_(crew),
          problem_(problem),
          sweeps_(crew, problem.inner()),
          rows_(static_cast<std::size_t>(crew.local_size())) {
        own_rows(0); // throws, if at all, here and not within the workers
        // Every worker makes its own rows, so that their memory lies near it.
        crew.run([&](Worker& worker) {
            rows(worker) = std::make_unique<RedBlackRows>(own_rows(worker.index()), problem.inner());
        });
    }

    /// From 0 to the solution; the times of the job.
    RunTimes run() {
        crew_.run([&](Worker& worker) { reset(*rows(worker)); });
        return crew_.run([&](Worker& worker) {
            RedBlackRows& own = *rows(worker);
            const double relaxation = problem_.relaxation();
            const std::size_t sweeps = sweeps_.run_until(
                worker, own, problem_.least_change(), problem_.most_sweeps(),
                [&](Colour colour, std::size_t row) { return relax(own.half_row(colour, row), relaxation); });
            if (worker.local() == 0) result_.sweeps = sweeps;
        });
    }

    /// What the last run left, at every rank.
    Result result() {
        crew_.run([&](Worker& worker) {
            const Result own = inspect(*rows(worker));
            const std::uint64_t checksum = worker.sum(own.checksum), wrong_points = worker.sum(own.wrong_points);
            if (worker.local() == 0) result_ = {result_.sweeps, checksum, wrong_points};
        });
        return result_;
    }

private:
    std::unique_ptr<RedBlackRows>& rows(const Worker& worker) {
        return rows_[static_cast<std::size_t>(worker.local())];
    }
    Range own_rows(int worker) const {
        const Range inside = rows_of_worker(problem_.inner(), crew_.size(), worker);
        return {inside.begin + 1, inside.end + 1};
    }

    void reset(RedBlackRows& rows) {
        for (std::size_t row = rows.own().begin - 1; row <= rows.own().end; ++row)
            for (std::size_t column = 0; column < problem_.size; ++column)
                rows.at(row, column) = problem_.boundary(row, column);
    }

    Result inspect(RedBlackRows& rows) const {
        Result result;
        for (std::size_t row = rows.own().begin; row < rows.own().end; ++row) {
            const double differences = problem_.difference_solution(row), exact = problem_.exact_solution(row);
            for (std::size_t column = 1; column <= problem_.inner(); ++column) {
                const double value = rows.at(row, column), sine = problem_.sine(column);
                const bool right = std::abs(value - differences * sine) <= problem_.iteration_tolerance() &&
                                   std::abs(value - exact * sine) <= problem_.exact_tolerance();
                if (!right) ++result.wrong_points;
                result.checksum += mixed(std::bit_cast<std::uint64_t>(value) ^ mixed(row * problem_.size + column));
            }
        }
        return result;
    }

    C& crew_;
    Problem problem_;
    RedBlackSweeps<C> sweeps_;
    std::vector<std::unique_ptr<RedBlackRows>> rows_; ///< by worker of this process
    Result result_;
};

} // namespace kumiki::kernels::laplace_sor
