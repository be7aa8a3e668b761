#pragma once

#include <cstddef>

namespace kumiki::kernels::cavity {

/// Incompressible flow in the unit square, driven by its lid, which moves with velocity 1 along x; from rest to the
/// steady state, by the MAC method (F65). Cells are numbered 1 .. cells() in rows (y, the lid above the last) and
/// columns (x).
struct Problem {
    std::size_t size = 65; ///< points along an edge, including the boundary: one more than cells; odd
    /// The flow is steady when no velocity changes faster than this, in lid velocities per unit of time.
    double steady = 1e-4;
    int reynolds = 100; ///< based on the lid's velocity and length

    static constexpr double lid = 1;
    static constexpr std::size_t smallest = 17; ///< with fewer points there is no vortex worth comparing

    std::size_t cells() const { return size - 1; }
    double spacing() const { return 1.0 / static_cast<double>(cells()); }
    /// The largest step for which explicit steps are stable with central differences, less a tenth: h^2 Re / 4 for
    /// diffusion, and 2 / Re for convection at the lid's velocity.
    double time_step() const;
    /// The limit if the flow does not become steady: by then the lid would have moved a hundred lengths.
    std::size_t most_steps() const;

    /// The number of pressure sweeps in a time step, starting from the last step's pressure, and their factor of
    /// over-relaxation. They do not solve the equation completely, but the remaining divergence is in the next step's
    /// source, and so it vanishes as the flow becomes steady. From 3 sweeps on, with any factor from 1.2 to 1.7, the
    /// flow needs no more steps than with an exact pressure. With the factor that is best for an exact solution (1.93
    /// with 65 points), errors grow before they shrink, and a few sweeps per step make the flow unstable.
    static constexpr std::size_t sweeps = 4;
    static constexpr double relaxation = 1.5;

    /// The largest acceptable divergence of a cell at the end, in lid velocities per cell length.
    double divergence_tolerance() const { return steady; }
    /// The largest acceptable deviation of centre-line velocities from the published ones. It covers the remaining
    /// change, which decays with exp(-t / 2) at a Reynolds number of 100 and more slowly at higher ones; the
    /// second-order error of this program, which grows with the Reynolds number because the layers along the walls
    /// become thinner; and the error of the published values. (Their lowest v is -0.2453 for 100, and -0.5155 for 1000,
    /// where spectral methods give -0.2538 and -0.5271: Botella and Peyret, 1998.)
    double tolerance() const {
        const double ratio = reynolds / 100.0;
        return 2 * steady * ratio + 10 * spacing() * spacing() * ratio + (reynolds < 1000 ? 0.0095 : 0.0125);
    }
};

} // namespace kumiki::kernels::cavity
