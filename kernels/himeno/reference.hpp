#pragma once

#include <cstddef>

#include "kernels/himeno/problem.hpp"
#include "kernels/himeno/solver.hpp"

namespace kumiki::kernels::himeno {

/// The number of sweeps in a run that is checked against the sequential one: all that were requested, or as many as
/// keep the sequential run below about a second.
std::size_t checked_sweeps(const Problem& problem, std::size_t sweeps);

/// The result of `sweeps` sweeps of one worker.
struct Reference {
    Result result;
    /// Whether gosa had the value in the first sweep that follows from the benchmark's initial pressures, and has
    /// fallen since.
    bool plausible = false;
};
Reference compute_reference(const Problem& problem, std::size_t sweeps);

/// Whether a result of several workers equals the reference's. A point's new pressure depends on old pressures only, so
/// the pressures must have the same bits; gosa is a sum of many numbers, and its rounding depends on how it is cut.
bool agrees(const Result& result, const Reference& reference);

} // namespace kumiki::kernels::himeno
