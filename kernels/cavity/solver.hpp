#pragma once

#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cavity/centre_lines.hpp"
#include "kernels/cavity/flow.hpp"
#include "kernels/common/mixed.hpp"

namespace kumiki::kernels::cavity {

/// The result of a run.
struct Result {
    std::uint64_t steps = 0;         ///< time steps
    std::uint64_t checksum = 0;      ///< of all velocities: the same bits for every number of workers
    std::uint64_t leaking_cells = 0; ///< cells whose inflow and outflow differ by more than Problem's tolerance
    double deviation = 0;            ///< from the published velocities
    std::vector<CentreVelocity> velocities = {}; ///< beside the published ones
};

/// The flow on the workers of a crew, each with a tile of cells.
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
          cut_(problem.cells(), problem.cells(), crew.size(), split),
          edges_(crew, cut_, Velocities::longest_edge(cut_.tile(0))),
          sweeps_(crew, cut_),
          memory_(crew, longest_storage(cut_, crew.size(), Flow::storage_length)),
          flows_(static_cast<std::size_t>(crew.local_size())) {
        // Every worker allocates its own tile, so that its memory is near it.
        crew.run([&](Worker& worker) {
            flow(worker) = std::make_unique<Flow>(problem, cut_.tile(worker.index()), memory_.of(worker));
        });
    }

    /// Computes from rest to the steady state; returns the times of the job.
    RunTimes run() {
        crew_.run([&](Worker& worker) { flow(worker)->reset(); });
        return crew_.run([&](Worker& worker) {
            std::uint64_t steps = 0;
            for (bool more = true; more && steps < problem_.most_steps();) {
                double change = 0;
                for (std::size_t i = 0; i < steps_between_looks; ++i) change = step(worker);
                steps += steps_between_looks;
                worker.enter(Phase::synchronisation);
                more = worker.sum(std::uint64_t{change > problem_.steady * problem_.time_step()}) > 0;
                worker.enter(Phase::computation);
            }
            if (worker.local() == 0) result_.steps = steps;
        });
    }

    /// The result of the last run, at every rank.
    Result result() {
        crew_.run([&](Worker& worker) {
            Result own;
            inspect(*flow(worker), own);
            const std::uint64_t checksum = worker.sum(own.checksum), leaking_cells = worker.sum(own.leaking_cells);
            auto velocities = velocities_of(worker);
            if (worker.local() == 0)
                result_ = {result_.steps, checksum, leaking_cells, largest_deviation(velocities),
                           std::move(velocities)};
        });
        return result_;
    }

private:
    static constexpr std::size_t steps_between_looks = 10;

    std::unique_ptr<Flow>& flow(const Worker& worker) { return flows_[static_cast<std::size_t>(worker.local())]; }

    /// One time step. Returns the largest change of a velocity.
    double step(Worker& worker) {
        Flow& own = *flow(worker);
        own.make_tentative();
        Velocities &tentative = own.tentative(), &velocities = own.velocities();
        edges_.start(worker, Sides::all, [&](Side side) { return tentative.edge(side); });
        edges_.finish(worker, Sides::all, [&](Side side, const double* edge) { tentative.accept(side, edge); });
        own.make_source();
        sweeps_.run_times(worker, own.pressure(), Problem::sweeps,
                          [&](Colour colour, const Tile& line) { own.relax(colour, line); });
        const double change = own.correct();
        edges_.exchange_with_corners(
            worker, [&](Side side) { return velocities.edge(side); },
            [&](Side side, const double* edge) { velocities.accept(side, edge); });
        return change;
    }

    void inspect(Flow& flow, Result& result) const {
        const auto& [rows, columns] = flow.own();
        for (std::size_t row = rows.begin; row < rows.end; ++row)
            for (std::size_t column = columns.begin; column < columns.end; ++column) {
                const std::size_t i = column + 1 - columns.begin;
                for (const double value : {flow.velocities().u(row)[i], flow.velocities().v(row)[i]})
                    result.checksum += mixed(std::bit_cast<std::uint64_t>(value) ^ mixed(row * problem_.size + column));
                if (flow.divergence(row, column) > problem_.divergence_tolerance()) ++result.leaking_cells;
            }
    }
    /// The worker that has a velocity adds it to zeros, so that all workers get it exactly.
    std::vector<CentreVelocity> velocities_of(Worker& worker) {
        Velocities& velocities = flow(worker)->velocities();
        const Tile& own = flow(worker)->own();
        const auto from_owner = [&](std::size_t row, std::size_t column, auto value) {
            return worker.sum(own.contains(row, column) ? value(row)[column + 1 - own.columns.begin] : 0.0);
        };
        const std::size_t middle = problem_.cells() / 2;
        std::vector<double> u, v;
        for (std::size_t cell = 1; cell <= problem_.cells(); ++cell) {
            u.push_back(from_owner(cell, middle, [&](std::size_t row) { return velocities.u(row); }));
            v.push_back(from_owner(middle, cell, [&](std::size_t row) { return velocities.v(row); }));
        }
        return beside_published(u, v, problem_.reynolds);
    }

    C& crew_;
    Problem problem_;
    Cut cut_;
    TileEdges<C> edges_;
    RedBlackSweeps<C> sweeps_;
    Memory memory_;
    std::vector<std::unique_ptr<Flow>> flows_; ///< by worker of this process
    Result result_;
};

} // namespace kumiki::kernels::cavity
