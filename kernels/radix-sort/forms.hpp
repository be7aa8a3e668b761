#pragma once

#include "kernels/radix-sort/task.hpp"

namespace kumiki::kernels::radix_sort {

/// Each form measures the task, prints its rows and returns the exit code.
int run_sequential(const Task& task);
int run_openmp(const Task& task);
int run_hybrid(const Task& task);
int run_library(const Task& task);

} // namespace kumiki::kernels::radix_sort
