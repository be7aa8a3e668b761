#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/laplace/problem.hpp"

namespace kumiki::kernels::laplace {

/// The number of steps in a run that is checked against the sequential one: all of the problem's, or as many as keep
/// the sequential run below about a second.
std::size_t checked_iterations(const Problem& problem);

/// The result of the sequential run of checked_iterations(problem) steps.
struct Reference {
    std::uint64_t checksum = 0;
    /// Whether the error has shrunk as the theory of Jacobi's method requires.
    bool converges = false;
};
Reference compute_reference(const Problem& problem);

} // namespace kumiki::kernels::laplace
