#pragma once

#include <sys/types.h>

#include "launch/command/job.hpp"
#include "launch/host/environment.hpp"
#include "launch/host/link.hpp"
#include "launch/system/this_process.hpp"

namespace kumiki::launch {

/// The descriptors that the library uses have numbers from here on, because shells and scripts use small numbers for
/// their own.
inline constexpr int lowest_shared_descriptor = 100;

/// What a new process needs to become rank `rank`.
struct RankStart {
    const Job& job;
    int rank;                ///< among those of this host
    Environment environment; ///< tell_job has been called on it
    pid_t daemon;
    pid_t group; ///< process group of the supervisor: for the terminal the ranks are one job with it
    const InheritedState& inherited;
    const RankStreams& streams;
    int failures; ///< where an ExecFailure is written when the program cannot be run
};

struct ExecFailure {
    int rank;
    int error; ///< errno
};

/// Turns the calling, freshly forked process into the program.
[[noreturn]] void become_rank(RankStart start);

} // namespace kumiki::launch
