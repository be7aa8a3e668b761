#pragma once

namespace kumiki::openmp {

/// Ends the job, in the process of the program that is about to end. At rank 0, in the thread that runs main and
/// outside of regions, all ranks leave it. Elsewhere the others cannot be told; the launcher then ends them.
void end_job();

/// Lets that happen also where the program ends otherwise than by rank 0's exit(). Every rank calls this before
/// anything of the program runs, so that it comes after what the program wants done at its end.
void await_other_ends(int rank);

} // namespace kumiki::openmp
