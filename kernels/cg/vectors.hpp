#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace kumiki::kernels::cg {

// The vector operations of a conjugate gradient step on one worker's rows. All vectors have the same length.

/// p.q, r.q, q.q and r.r: everything that one step needs.
std::array<double, 4> step_products(std::span<const double> p, std::span<const double> q, std::span<const double> r);

/// z += alpha p; r -= alpha q; p = r + beta p.
void step(double alpha, double beta, std::span<const double> q, std::span<double> z, std::span<double> r,
          std::span<double> p);

/// x.z, z.z and |x - A z|^2, for a solution z of A z = x.
std::array<double, 3> solution_products(std::span<const double> x, std::span<const double> z,
                                        std::span<const double> az);

} // namespace kumiki::kernels::cg
