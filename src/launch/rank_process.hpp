#pragma once

#include <csignal>
#include <sys/resource.h>
#include <sys/types.h>

#include "launch/environment.hpp"
#include "launch/job.hpp"

namespace kumiki::launch {

/// What a new process needs to become rank `rank`.
struct RankStart {
    const Job& job;
    int rank;
    Environment environment; ///< tell_job has been called on it
    pid_t keeper;
    pid_t group;       ///< process group of the front, so that the terminal sees the ranks as one job with it
    sigset_t mask;     ///< signals that were blocked when the launcher was started
    rlimit open_files; ///< the limit when the launcher was started
    int output = -1;   ///< takes the place of standard output; -1: inherited
    int error = -1;    ///< the same for standard error
    int failures;      ///< where an ExecFailure is written when the program cannot be run
};

struct ExecFailure {
    int rank;
    int error; ///< errno
};

/// Turns the calling, freshly forked process into the program.
[[noreturn]] void become_rank(RankStart start);

} // namespace kumiki::launch
