#pragma once

#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/common/crew.hpp"
#include "kernels/common/mixed.hpp"
#include "kernels/common/rows.hpp"
#include "kernels/diffusion/problem.hpp"
#include "kernels/diffusion/strip.hpp"

namespace kumiki::kernels::diffusion {

/// What a run leaves.
struct Result {
    std::uint64_t checksum = 0;     ///< of all values: the same bits for every number of workers
    std::uint64_t wrong_points = 0; ///< beyond the tolerances of Problem
};

/// The scheme on the workers of a crew. Every worker has a contiguous share of the lines along y and, in the other half
/// of a step, of those along x, and solves them alone; between the halves all exchange blocks with all, so that the
/// grid is transposed. The directions need not be told apart otherwise.
template <Crew C>
class Solver {
public:
    using Worker = typename C::Worker;
    using Edges = typename C::template Edges<double>;
    static_assert(EdgesBetween<Edges, Worker, double>);

    /// Collective. Throws std::runtime_error where there are more workers than lines.
    Solver(C& crew, const Problem& problem)
        : crew_(crew),
          problem_(problem),
          elimination_(problem.inner(), problem.steepness()),
          edges_(crew, crew.size() - 1, Strip::block_length(lines(0).size(), lines(0).size())),
          strips_(static_cast<std::size_t>(crew.local_size())) {
        // Every worker makes its own strips, so that their memory lies near it.
        crew.run([&](Worker& worker) {
            strips(worker) = std::make_unique<Strips>(problem.inner(), lines(worker.index()).size());
        });
    }

    /// All time steps, from the initial mode; the times of the job.
    RunTimes run() {
        crew_.run([&](Worker& worker) { reset(worker); });
        return crew_.run([&](Worker& worker) {
            auto& [along_y, along_x] = *strips(worker);
            along_y.make_right_sides(problem_.steepness());
            for (std::size_t step = 1; step <= problem_.steps; ++step) {
                transpose(worker, along_y, along_x);
                along_x.half_step(elimination_, Leave::right_sides);
                transpose(worker, along_x, along_y);
                along_y.half_step(elimination_, step < problem_.steps ? Leave::right_sides : Leave::values);
            }
        });
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
    struct Strips {
        Strips(std::size_t length, std::size_t lines) : along_y(length, lines), along_x(length, lines) {}
        Strip along_y, along_x;
    };

    std::unique_ptr<Strips>& strips(const Worker& worker) { return strips_[static_cast<std::size_t>(worker.local())]; }

    Range lines(int worker) const { return rows_of_worker(problem_.inner(), crew_.size(), worker); }

    void reset(const Worker& worker) {
        const Range own = lines(worker.index());
        Strip& strip = strips(worker)->along_y;
        for (std::size_t i = 0; i < problem_.inner(); ++i)
            for (std::size_t line = 0; line < own.size(); ++line)
                strip.at(i, line) = problem_.along_y(i) * problem_.along_x(own.begin + line);
    }

    void transpose(Worker& worker, const Strip& from, Strip& to) {
        const int self = worker.index();
        const auto each_other = [&](auto what) {
            for (int distance = 1; distance < crew_.size(); ++distance) {
                const int other = (self + distance) % crew_.size();
                what(other, Link{distance - 1, other, crew_.size() - distance - 1});
            }
        };
        each_other([&](int other, const Link& link) { edges_.start(worker, link, from.block(lines(other))); });
        worker.enter(Phase::computation);
        to.accept_transposed(lines(self), from.block(lines(self)).data());
        edges_.finish(worker);
        each_other(
            [&](int other, const Link& link) { to.accept_transposed(lines(other), edges_.arrived(worker, link)); });
    }

    Result inspect(const Worker& worker) {
        const double scheme = problem_.scheme_decay(), exact = problem_.exact_decay();
        const double rounding = problem_.rounding_tolerance(), error = problem_.scheme_tolerance() + rounding;
        const Range own = lines(worker.index());
        const Strip& strip = strips(worker)->along_y;
        Result result;
        for (std::size_t i = 0; i < problem_.inner(); ++i)
            for (std::size_t line = 0; line < own.size(); ++line) {
                const double mode = problem_.along_y(i) * problem_.along_x(own.begin + line);
                const double value = strip.at(i, line);
                const bool right =
                    std::abs(value - scheme * mode) <= rounding && std::abs(value - exact * mode) <= error;
                if (!right) ++result.wrong_points;
                result.checksum +=
                    mixed(std::bit_cast<std::uint64_t>(value) ^ mixed(i * problem_.size + own.begin + line));
            }
        return result;
    }

    C& crew_;
    Problem problem_;
    Elimination elimination_;
    Edges edges_;
    std::vector<std::unique_ptr<Strips>> strips_; ///< by worker of this process
};

} // namespace kumiki::kernels::diffusion
