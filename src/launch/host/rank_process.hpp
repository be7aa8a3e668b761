#pragma once

#include <sys/types.h>

#include "launch/command/job.hpp"
#include "launch/host/environment.hpp"
#include "launch/host/link.hpp"
#include "launch/system/this_process.hpp"

namespace kumiki::launch {

/// The descriptors that the library uses have numbers from here on, because shells and scripts use small numbers
/// themselves.
inline constexpr int lowest_shared_descriptor = 100;

/// What a new process needs in order to become rank `rank`.
struct RankStart {
    const Job& job;
    int rank;                ///< number on this host
    Environment environment; ///< tell_job has been called for it
    pid_t daemon;
    pid_t group; ///< the supervisor's process group: for the terminal, the ranks and the supervisor are one job
    const InheritedState& inherited;
    const RankStreams& streams;
    int failures; ///< an ExecFailure is written here if the program cannot be run
};

struct ExecFailure {
    int rank;
    int error; ///< errno
};

/// Turns the calling process, which has just been forked, into the program.
[[noreturn]] void become_rank(RankStart start);

} // namespace kumiki::launch
