#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/laplace/problem.hpp"

namespace kumiki::kernels::laplace {

/// How many steps a run that is checked against the sequential one takes: all of the problem's, or as many as keep the
/// sequential run below about a second.
std::size_t checked_iterations(const Problem& problem);

/// What the sequential run of checked_iterations(problem) steps leaves.
struct Reference {
    std::uint64_t checksum = 0;
    /// Whether the error shrank as the theory of Jacobi's method says it must.
    bool converges = false;
};
Reference compute_reference(const Problem& problem);

} // namespace kumiki::kernels::laplace
