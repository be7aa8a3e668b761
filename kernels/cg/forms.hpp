#pragma once

#include "kernels/cg/task.hpp"

namespace kumiki::kernels::cg {

/// Each form measures the task, prints its rows and returns the exit code.
int run_sequential(const Task& task);
int run_openmp(const Task& task);
int run_hybrid(const Task& task);
int run_message(const Task& task);

} // namespace kumiki::kernels::cg
