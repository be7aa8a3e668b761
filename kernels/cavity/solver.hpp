#pragma once

#include <bit>
#include <memory>
#include <vector>

#include "kernels/cavity/centre_lines.hpp"
#include "kernels/cavity/flow.hpp"
#include "kernels/common/mixed.hpp"
#include "kernels/common/rows.hpp"

namespace kumiki::kernels::cavity {

/// What a run leaves.
struct Result {
    std::uint64_t steps = 0;        ///< of time
    std::uint64_t checksum = 0;     ///< of all velocities: the same bits for every number of workers
    std::uint64_t leaking_rows = 0; ///< with a cell where less flows in than out, or more, beyond Problem's tolerance
    double deviation = 0;           ///< from the published velocities
};

/// The flow on the workers of a crew, each with contiguous rows of cells.
template <Crew C>
class Solver {
public:
    using Worker = typename C::Worker;

    /// Collective. Throws std::runtime_error where there are more workers than rows.
    Solver(C& crew, const Problem& problem)
        : crew_(crew),
          problem_(problem),
          edges_(crew, Velocities::row_length(problem.cells())),
          cut_(problem.cells(), problem.cells(), crew.size(), Split::rows),
          sweeps_(crew, cut_),
          flows_(static_cast<std::size_t>(crew.local_size())) {
        own_rows(0); // throws, if at all, here and not within the workers
        // Every worker makes its own rows, so that their memory lies near it.
        crew.run([&](Worker& worker) { flow(worker) = std::make_unique<Flow>(problem, own_rows(worker.index())); });
    }

    /// From rest to the steady state; the times of the job.
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

    /// What the last run left, at every rank.
    Result result() {
        crew_.run([&](Worker& worker) {
            const std::uint64_t checksum = worker.sum(checksum_of(*flow(worker)));
            const std::uint64_t leaking_rows = worker.sum(leaking_rows_of(*flow(worker)));
            const double deviation = deviation_of(worker);
            if (worker.local() == 0) result_ = {result_.steps, checksum, leaking_rows, deviation};
        });
        return result_;
    }

private:
    static constexpr std::size_t steps_between_looks = 10;

    std::unique_ptr<Flow>& flow(const Worker& worker) { return flows_[static_cast<std::size_t>(worker.local())]; }
    Range own_rows(int worker) const {
        const Range rows = rows_of_worker(problem_.cells(), crew_.size(), worker);
        return {rows.begin + 1, rows.end + 1};
    }

    /// One time step. Returns how far the velocity that changed most did.
    double step(Worker& worker) {
        Flow& own = *flow(worker);
        own.make_tentative();
        exchange(worker, own.tentative());
        own.make_source();
        sweeps_.run_times(worker, own.pressure(), Problem::sweeps,
                          [&](Colour colour, const Tile& line) { own.relax(colour, line); });
        const double change = own.correct();
        exchange(worker, own.velocities());
        return change;
    }
    void exchange(Worker& worker, Velocities& velocities) {
        const Range own = flow(worker)->own();
        edges_.start(worker, velocities.row(own.begin), velocities.row(own.end - 1));
        edges_.finish(worker, velocities.row(own.begin - 1), velocities.row(own.end));
    }

    std::uint64_t checksum_of(Flow& flow) const {
        std::uint64_t sum = 0;
        for (std::size_t row = flow.own().begin; row < flow.own().end; ++row)
            for (std::size_t column = 1; column <= problem_.cells(); ++column)
                for (const double value : {flow.velocities().u(row)[column], flow.velocities().v(row)[column]})
                    sum = sum + mixed(std::bit_cast<std::uint64_t>(value) ^ mixed(row * problem_.size + column));
        return sum;
    }
    std::uint64_t leaking_rows_of(Flow& flow) const {
        std::uint64_t count = 0;
        for (std::size_t row = flow.own().begin; row < flow.own().end; ++row)
            count += flow.divergence(row) > problem_.divergence_tolerance() ? 1 : 0;
        return count;
    }
    /// The worker that has a velocity adds it to zeros, so that all get it as it is.
    double deviation_of(Worker& worker) {
        Velocities& velocities = flow(worker)->velocities();
        const Range own = flow(worker)->own();
        const std::size_t middle = problem_.cells() / 2;
        const auto from_owner = [&](std::size_t row, auto value) {
            return worker.sum(row >= own.begin && row < own.end ? value() : 0.0);
        };
        std::vector<double> u, v;
        for (std::size_t cell = 1; cell <= problem_.cells(); ++cell) {
            u.push_back(from_owner(cell, [&] { return velocities.u(cell)[middle]; }));
            v.push_back(from_owner(middle, [&] { return velocities.v(middle)[cell]; }));
        }
        return deviation_from_published(u, v);
    }

    C& crew_;
    Problem problem_;
    RowEdges<C> edges_;
    Cut cut_;
    RedBlackSweeps<C> sweeps_;
    std::vector<std::unique_ptr<Flow>> flows_; ///< by worker of this process
    Result result_;
};

} // namespace kumiki::kernels::cavity
