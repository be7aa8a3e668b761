#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "linpack/generator.hpp"
#include "linpack/layout.hpp"
#include "linpack/local_matrix.hpp"
#include "linpack/parameters.hpp"
#include "linpack/residual.hpp"

namespace kumiki::linpack {

/// What a run gave.
struct Outcome {
    std::chrono::system_clock::time_point begin, end; ///< of factorisation and solution
    double seconds = 0;                               ///< between them, at the rank that took longest
    std::optional<Residual> residual;                 ///< absent where it was not asked for
    std::vector<double> solution;
    std::vector<std::size_t> pivots; ///< the row with which each row was swapped
    std::size_t products = 0;        ///< of matrices, that this rank's threads made in updates

    bool passed(double threshold) const { return !residual || residual->scaled < threshold; }
};

/// Operations per second in units of 10^9, as HPL counts them: 2/3 N^3 + 3/2 N^2.
double gigaflops(std::size_t size, double seconds);

/// Told of the share of the work that is done, 0 .. 1, at one thread of each rank.
using ShareDone = std::function<void(double share)>;

/// Sets this rank's part of the matrix, each thread some of its rows.
void fill(const LocalMatrix& matrix, const Place& place, const Layout& layout, const Generator& generator, Team& team);

/// Makes the matrix, factors and solves it, and checks the solution. Collective over the job; the outcome is that of
/// all at every rank that takes part, and empty at others.
Outcome run(Job& job, const Parameters& parameters, const ShareDone& progress = {});

} // namespace kumiki::linpack
