#pragma once

#include "kernels/common/form_choice.hpp"
#include "kernels/common/split_choice.hpp"
#include "measure/sampling.hpp"

namespace kumiki::kernels {

/// What starts a program's processes: either the program itself or kumiki-run, and then there is a choice of forms; or
/// an MPI.
enum class StartedBy { itself, mpi };

/// The options of most programs; a program with further options has its own Task.
template <class Problem>
struct ProblemTask {
    Problem problem;
    FormChoice choice; ///< ignored by the MPI programs
    measure::Budget budget;
};

/// The same for a program whose grid can be cut in different ways.
template <class Problem>
struct GridTask : ProblemTask<Problem> {
    SplitChoice split;
};

} // namespace kumiki::kernels
