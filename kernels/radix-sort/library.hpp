#pragma once

#include "kernels/radix-sort/task.hpp"

namespace kumiki::kernels::radix_sort {

/// Measures the best library sorts, which a programmer would use instead of writing a sort. Prints the rows of each;
/// returns the exit code.
int measure_libraries(const Task& task);

} // namespace kumiki::kernels::radix_sort
