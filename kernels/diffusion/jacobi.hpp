#pragma once

#include "kernels/common/rows.hpp"
#include "kernels/diffusion/problem.hpp"
#include "kernels/diffusion/slab.hpp"

namespace kumiki::kernels::diffusion {

/// Line systems solved by Jacobi iterations, as in the paper (F63): every worker has whole lines along y, and those
/// along x are cut, so that in this half of a step it needs its neighbours' lines before every iteration. How many
/// iterations is known beforehand (Problem::iterations), so that nobody asks whether they suffice.
template <Crew C>
class Jacobi {
public:
    using CrewType = C;
    using Worker = typename C::Worker;
    using Lines = Slab;

    /// Collective.
    Jacobi(C& crew, const Problem& problem)
        : problem_(problem),
          iterations_(problem.iterations()),
          splitting_(problem.steepness()),
          edges_(crew, problem.inner()) {}

    /// All time steps.
    void run(Worker& worker, Slab& own) {
        own.make_right_sides(problem_.steepness());
        for (std::size_t step = 1; step <= problem_.steps; ++step) {
            half_step_across(worker, own);
            own.half_step_along(splitting_, iterations_, step < problem_.steps ? Leave::right_sides : Leave::values);
        }
    }

private:
    /// The inside, which needs no ghosts, is computed while the outer lines travel.
    void half_step_across(Worker& worker, Slab& own) {
        const std::size_t last = own.lines() - 1;
        own.begin();
        for (std::size_t i = 0; i < iterations_; ++i) {
            edges_.start(worker, own.line(0), own.line(last));
            if (last > 0) own.iterate_across(splitting_, {1, last});
            edges_.finish(worker, own.ghost_before(), own.ghost_after());
            own.iterate_across(splitting_, {0, 1});
            if (last > 0) own.iterate_across(splitting_, {last, last + 1});
            own.turn();
        }
        own.end(Leave::right_sides);
    }

    Problem problem_;
    std::size_t iterations_;
    Splitting splitting_;
    RowEdges<C> edges_;
};

} // namespace kumiki::kernels::diffusion
