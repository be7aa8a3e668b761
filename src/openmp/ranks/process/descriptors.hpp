#pragma once

#include "openmp/other_ranks.hpp"

namespace kumiki::openmp {

/// For a rank other than the first: lets the descriptors of files that the program opens in this process be others than
/// those of rank 0, so that one of another process is no file at all here, rather than the wrong one. Standard input,
/// which rank 0 alone has, is none, either.
void keep_descriptors_apart(int rank);

/// Ends the process if this descriptor, with which a call has failed or returned 0, is standard input or one that
/// another process has opened, as its number says: programs may ignore that nothing was read or written.
void refuse_file_elsewhere(int file);

/// Ends the process if a stream has failed to read standard input, as it does in all ranks but the first.
void refuse_reading_input(const OtherRanks& others);

} // namespace kumiki::openmp
