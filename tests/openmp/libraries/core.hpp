// A library that uses OpenMP, and another one that uses that one.
#pragma once

#include <vector>

namespace core {

double weighted_sum(const std::vector<double>& values);
/// How often each remainder modulo `kinds` occurs among the values.
std::vector<long> histogram(const std::vector<long>& values, int kinds);
/// Each thread counts in a variable of its own, which begins as the caller's.
long count_apart(long begin, int steps);
/// Hands a number on from thread to thread.
long hand_on(long first);
/// Adds to a sum that the library keeps.
long remember(long value);

} // namespace core

namespace front {

/// Keeps memory of its own, which the other library's threads fill.
const std::vector<double>& squares(int count);

} // namespace front
