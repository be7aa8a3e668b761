#pragma once

#include <cstddef>

#include "kernels/himeno/problem.hpp"
#include "kernels/himeno/solver.hpp"

namespace kumiki::kernels::himeno {

/// How many sweeps a run that is checked against the sequential one takes: all that were asked for, or as many as keep
/// the sequential run below about a second.
std::size_t checked_sweeps(const Problem& problem, std::size_t sweeps);

/// What `sweeps` sweeps of one worker leave.
struct Reference {
    Result result;
    /// Whether gosa was in the first sweep what the benchmark's initial pressures make it, and has fallen since.
    bool plausible = false;
};
Reference compute_reference(const Problem& problem, std::size_t sweeps);

/// Whether a result of several workers is the reference's. A point's new pressure depends on old ones only, so the
/// pressures must have the same bits; gosa is a sum of many numbers, and where it is cut changes its rounding.
bool agrees(const Result& result, const Reference& reference);

} // namespace kumiki::kernels::himeno
