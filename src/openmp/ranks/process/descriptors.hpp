#pragma once

#include <optional>

#include "openmp/other_ranks.hpp"

namespace kumiki::openmp {

/// For a rank other than the first: lets the descriptors of files that the program opens in this process be others than
/// those of rank 0, so that one of another process is no file at all here, rather than the wrong one. Standard input,
/// which rank 0 alone has, is none, either.
void keep_descriptors_apart(int rank);

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
