#pragma once

#include <cstdint>
#include <vector>

#include "openmp/team.hpp"

/// What worksharing constructs have besides their iterations: task reductions, and memory that their threads share.
namespace kumiki::openmp {

/// What schedule(runtime) means to the calling thread; and `monotonic`, if the loop says so.
Schedule runtime_schedule(bool monotonic = false);

/// Begins the taskgroup of a worksharing construct with task reductions.
void begin_share_group(Member& me);

/// Extras of a share that `me` has just entered. The first member calls prepare_extras() while it prepares the share,
/// all members call take_extras() afterwards.
void prepare_extras(Member& me, Workshare& share, const std::uintptr_t* reductions, void** memory);
void take_extras(Member& me, Workshare& share, std::uintptr_t* reductions, void** memory);

/// Enters a loop with dependences (Doacross) and extras.
void enter_doacross(Member& me, const Loop& loop, std::vector<std::uint64_t> counts, std::uint64_t part,
                    std::uintptr_t* reductions = nullptr, void** memory = nullptr);

/// Enters a worksharing construct with extras; `memory` holds how many bytes are wanted, and then their address.
void enter_share(Member& me, const Loop& loop, std::uintptr_t* reductions, void** memory);

} // namespace kumiki::openmp
