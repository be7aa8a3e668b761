#pragma once

#include "kernels/common/tile_edges.hpp"
#include "kernels/diffusion/problem.hpp"
#include "kernels/diffusion/slab.hpp"

namespace kumiki::kernels::diffusion {

/// Solves line systems by Jacobi iterations, as in the paper (F63): lines that are cut need the neighbours' edges
/// before every iteration. If the grid is cut into rows, lines along y are whole and only those along x are cut; in
/// tiles both are cut. The number of iterations is known beforehand (Problem::iterations), so the workers need not
/// agree whether they suffice.
template <Crew C>
class Jacobi {
public:
    using CrewType = C;
    using Worker = typename C::Worker;
    using Lines = Slab;

    /// Collective. `cut` must outlive this.
    Jacobi(C& crew, const Problem& problem, const Cut& cut)
        : problem_(problem),
          cut_(cut),
          iterations_(problem.iterations()),
          splitting_(problem.steepness()),
          edges_(crew, cut, cut.longest_line()) {}

    /// All time steps.
    void run(Worker& worker, Slab& own) {
        own.begin();
        if (cut_.cuts(Sides::west_east)) {
            start(worker, own, Sides::west_east);
            finish(worker, own, Sides::west_east);
        }
        own.make_right_sides(problem_.steepness());
        for (std::size_t step = 1; step <= problem_.steps; ++step) {
            const Leave leave = step < problem_.steps ? Leave::right_sides : Leave::values;
            half_step(worker, own, Sides::north_south, Leave::right_sides);
            if (cut_.cuts(Sides::west_east)) half_step(worker, own, Sides::west_east, leave);
            else own.half_step_along(splitting_, iterations_, leave);
        }
    }

private:
    /// The inside, which needs no ghosts, is computed while the edges travel.
    void half_step(Worker& worker, Slab& own, Sides direction, Leave leave) {
        const Tile inside = cut_.without_edges(worker.index(), own.own(), direction);
        own.begin();
        for (std::size_t i = 0; i < iterations_; ++i) {
            start(worker, own, direction);
            own.iterate(direction, splitting_, inside);
            finish(worker, own, direction);
            for_lines_between(own.own(), inside, [&](const Tile& line) { own.iterate(direction, splitting_, line); });
            own.turn();
        }
        own.end(leave);
    }
    void start(Worker& worker, Slab& own, Sides sides) {
        edges_.start(worker, sides, [&](Side side) { return own.edge(side); });
    }
    void finish(Worker& worker, Slab& own, Sides sides) {
        edges_.finish(worker, sides, [&](Side side, const double* edge) { own.accept(side, edge); });
    }

    Problem problem_;
    const Cut& cut_;
    std::size_t iterations_;
    Splitting splitting_;
    TileEdges<C> edges_;
};

} // namespace kumiki::kernels::diffusion
