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

/// The result of a run.
struct Result {
    std::size_t sweeps = 0;
    std::uint64_t checksum = 0;     ///< of all points: the same bits for every number of workers
    std::uint64_t wrong_points = 0; ///< beyond the tolerances of Problem
};

/// The solution on the workers of a crew, each with a tile.
template <Crew C>
class Solver {
public:
    using Worker = typename C::Worker;
    using Memory = typename C::template Memory<double>;
    static_assert(MemoryFor<Memory, Worker, double>);

    /// Collective. Throws std::runtime_error if the grid cannot be cut for so many workers.
    Solver(C& crew, const Problem& problem, const SplitChoice& split = {})
        : crew_(crew),
          problem_(problem),
          cut_(problem.inner(), problem.inner(), crew.size(), split),
          sweeps_(crew, cut_),
          memory_(crew, longest_storage(cut_, crew.size(), RedBlackTile::storage_length)),
          tiles_(static_cast<std::size_t>(crew.local_size())) {
        // Every worker allocates its own tile, so that its memory is near it.
        crew.run([&](Worker& worker) {
            tile(worker) = std::make_unique<RedBlackTile>(cut_.tile(worker.index()), memory_.of(worker));
        });
    }

    /// Computes from 0 to the solution; returns the times of the job.
    RunTimes run() {
        crew_.run([&](Worker& worker) { reset(*tile(worker)); });
        return crew_.run([&](Worker& worker) {
            RedBlackTile& own = *tile(worker);
            const double relaxation = problem_.relaxation();
            const std::size_t sweeps = sweeps_.run_until(
                worker, own, problem_.least_change(), problem_.most_sweeps(),
                [&](Colour colour, const Tile& line) { return relax(own.line(colour, line), relaxation); });
            if (worker.local() == 0) result_.sweeps = sweeps;
        });
    }

    /// The result of the last run, at every rank.
    Result result() {
        crew_.run([&](Worker& worker) {
            const Result own = inspect(*tile(worker));
            const std::uint64_t checksum = worker.sum(own.checksum), wrong_points = worker.sum(own.wrong_points);
            if (worker.local() == 0) result_ = {result_.sweeps, checksum, wrong_points};
        });
        return result_;
    }

private:
    std::unique_ptr<RedBlackTile>& tile(const Worker& worker) {
        return tiles_[static_cast<std::size_t>(worker.local())];
    }

    void reset(RedBlackTile& tile) {
        const auto& [rows, columns] = tile.own();
        for (std::size_t row = rows.begin - 1; row <= rows.end; ++row)
            for (std::size_t column = columns.begin - 1; column <= columns.end; ++column)
                tile.at(row, column) = problem_.boundary(row, column);
    }

    Result inspect(RedBlackTile& tile) const {
        Result result;
        const auto& [rows, columns] = tile.own();
        for (std::size_t row = rows.begin; row < rows.end; ++row) {
            const double differences = problem_.difference_solution(row), exact = problem_.exact_solution(row);
            for (std::size_t column = columns.begin; column < columns.end; ++column) {
                const double value = tile.at(row, column), sine = problem_.sine(column);
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
    Cut cut_;
    RedBlackSweeps<C> sweeps_;
    Memory memory_;
    std::vector<std::unique_ptr<RedBlackTile>> tiles_; ///< by worker of this process
    Result result_;
};

} // namespace kumiki::kernels::laplace_sor
