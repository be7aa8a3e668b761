#pragma once

#include <csignal>
#include <string>
#include <sys/resource.h>

#include "error/result.hpp"
#include "launch/system/descriptor.hpp"

namespace kumiki::launch {

/// Gives this process another name in every list of processes. `argv` is main's own.
void set_title(char** argv, const char* name);

/// Opens those standard streams that this process was started without, so that nothing else gets their numbers.
void open_standard_streams();

/// Takes the place of a standard stream, which then leads nowhere.
Descriptor take_over_stream(int stream, int flags);

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
