#pragma once

#include <csignal>
#include <string>
#include <sys/resource.h>

#include "error/result.hpp"
#include "platform/descriptor.hpp"

namespace kumiki::launch {

/// Gives this process another name in every list of processes. `argv` is main's own.
void set_process_name(char** argv, const char* name);

/// Opens those standard streams that this process was started without, so that nothing else gets their numbers.
void open_standard_streams();

/// Returns a duplicate of a standard stream; the stream itself is redirected to /dev/null.
platform::Descriptor take_over_stream(int stream, int flags);

/// The inherited state that the launcher has changed for itself, and restores for the programs that it starts.
struct InheritedState {
    sigset_t mask; ///< of blocked signals
    rlimit open_files;

    /// Must be called in the new process, just before it becomes the program.
    void restore() const;
};

/// Raises the limit of open files to the maximum for this process, because pipes and sockets of many ranks and hosts
/// need many descriptors. Returns the previous limit.
rlimit raise_limit_of_open_files();

/// Fails if this process may have fewer open files than `needed`; `who` names what needs them ("2 ranks on this host").
Result<> check_limit_of_open_files(rlim_t needed, const std::string& who);

} // namespace kumiki::launch
