#pragma once

#include <optional>

#include "openmp/other_ranks.hpp"

namespace kumiki::openmp {

/// How many descriptors each of so many ranks may have, by the limits of this process.
int descriptors_for_each_of(int ranks);

/// Lets the descriptors of files that the program opens in this process begin at this times the rank, and end where the
/// next rank's begin, so that one of another process is no file at all here, rather than the wrong one. Standard input,
/// which rank 0 alone has, is none elsewhere, either. Where the user allows rank 0 more, it has them.
void keep_descriptors_apart(int rank, int for_each);

/// Where the kernel has no descriptors, those of streams of other processes begin (streams.hpp).
inline constexpr int descriptors_of_streams = 1 << 30;

/// Ends the process because it does with a stream of another one what is not possible.
[[noreturn]] void refuse_other_uses();

/// The rank that has opened this descriptor, as its number says; none if that is this one, or if it is no such
/// descriptor.
std::optional<int> other_owner(int file);

/// Ends the process if this descriptor, with which a call has failed or returned 0, is standard input or one that
/// another process has opened, as its number says: programs may ignore that nothing was read.
void refuse_file_elsewhere(int file);

/// Ends the process if a stream has failed to read standard input, as it does in all ranks but the first.
void refuse_reading_input(const OtherRanks& others);

} // namespace kumiki::openmp
