#pragma once

#include <csignal>
#include <string>
#include <sys/resource.h>

#include "error/result.hpp"

namespace kumiki::launch {

/// What the launcher was started with and has changed for itself: the programs that it starts get it back.
struct Origin {
    sigset_t mask; ///< blocked signals
    rlimit open_files;

    /// To be called in the new process, last before it becomes the program.
    void restore() const;
};

/// Pipes and sockets of many ranks and hosts need many descriptors: allows this process as many as it may have.
/// Returns the limit before.
rlimit raise_limit_of_open_files();

/// Fails when this process may have fewer open files than `needed`; `who` needs them ("2 ranks on this host").
Result<> check_limit_of_open_files(rlim_t needed, const std::string& who);

} // namespace kumiki::launch
