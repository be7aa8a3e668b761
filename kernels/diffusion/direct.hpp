#pragma once

#include "kernels/crews/crew.hpp"
#include "kernels/common/cut.hpp"
#include "kernels/diffusion/problem.hpp"
#include "kernels/diffusion/strip.hpp"

namespace kumiki::kernels::diffusion {

/// Solves line systems by elimination: every worker has whole lines, along y in one half of a step and along x in the
/// other, and solves them alone; between the halves all workers exchange blocks, so that the grid is transposed. The
/// code is otherwise the same for both directions.
template <Crew C>
class Direct {
public:
    using CrewType = C;
    using Worker = typename C::Worker;
    using Edges = typename C::template Edges<double>;
    static_assert(EdgesBetween<Edges, Worker, double>);

    /// The data of one worker: a row of its tile is a line along y.
    struct Lines {
        /// `memory` is where both grids are: storage_length() elements or none.
        explicit Lines(const Tile& tile, std::span<double> memory = {})
            : own(tile),
              along_y(tile.columns.size(), tile.rows.size(), part_of_memory(memory, 0, strip_length(tile))),
              along_x(tile.columns.size(), tile.rows.size(),
                      part_of_memory(memory, strip_length(tile), strip_length(tile))) {}
        static std::size_t storage_length(const Tile& tile) { return 2 * strip_length(tile); }
        double& at(std::size_t row, std::size_t column) { return along_y.at(column - 1, row - own.rows.begin); }

        Tile own;
        Strip along_y, along_x;

    private:
        static std::size_t strip_length(const Tile& tile) {
            return Strip::block_length(tile.columns.size(), tile.rows.size());
        }
    };

    /// Collective. `cut` consists of rows only, and must outlive this.
    Direct(C& crew, const Problem& problem, const Cut& cut)
        : crew_(crew),
          problem_(problem),
          cut_(cut),
          elimination_(problem.inner(), problem.steepness()),
          edges_(crew, crew.size() - 1, Strip::block_length(lines(0).size(), lines(0).size())) {}

    /// All time steps.
    void run(Worker& worker, Lines& own) {
        Strip &along_y = own.along_y, &along_x = own.along_x;
        along_y.make_right_sides(problem_.steepness());
        for (std::size_t step = 1; step <= problem_.steps; ++step) {
            transpose(worker, along_y, along_x);
            along_x.half_step(elimination_, Leave::right_sides);
            transpose(worker, along_x, along_y);
            along_y.half_step(elimination_, step < problem_.steps ? Leave::right_sides : Leave::values);
        }
    }

private:
    Range lines(int worker) const {
        const Range rows = cut_.tile(worker).rows;
        return {rows.begin - 1, rows.end - 1};
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
        edges_.started(worker);
        to.accept_transposed(lines(self), from.block(lines(self)).data());
        edges_.finish(worker);
        each_other(
            [&](int other, const Link& link) { to.accept_transposed(lines(other), edges_.arrived(worker, link)); });
    }

    C& crew_;
    Problem problem_;
    const Cut& cut_;
    Elimination elimination_;
    Edges edges_;
};

} // namespace kumiki::kernels::diffusion
