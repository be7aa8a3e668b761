#pragma once

#include <span>

#include "linpack/generator.hpp"
#include "linpack/layout.hpp"

namespace kumiki::linpack {

/// How good a solution is, by HPL's formula, and what this is computed from.
struct Residual {
    double difference = 0;        ///< ||A x - b||, the largest element
    double matrix_infinity = 0;   ///< ||A||, the largest sum of a row
    double matrix_one = 0;        ///< the largest sum of a column
    double solution_infinity = 0; ///< ||x||, the largest element
    double solution_one = 0;      ///< the sum of the elements
    double right_side = 0;        ///< ||b||, the largest element
    double scaled = 0;            ///< difference / (eps (||A|| ||x|| + ||b||) N)

    /// HPL's usual bound.
    static constexpr double usual_threshold = 16.0;
};

/// The largest relative error of one rounding.
inline constexpr double rounding = 0x1p-53;

/// Makes the matrix again, element by element, and compares. Collective over the ranks that take part; the same
/// everywhere.
Residual residual_of(Place& place, const Layout& layout, const Generator& generator, Team& team,
                     std::span<const double> x);

} // namespace kumiki::linpack
