#pragma once

#include <cstdint>
#include <optional>

namespace kumiki::platform {

/// The status of a process in the system's table of processes.
struct ProcessStatus {
    enum class State {
        alive,
        stopped, ///< by a signal: SIGSTOP, or the terminal's
        traced,  ///< held by a debugger
        dead,    ///< it has ended, and its parent has not reaped it yet
    };
    State state = State::alive;
    int parent = 0;
};

/// A number of the namespace in which this process has its number; 0: the system does not tell.
std::uint64_t process_namespace();

/// Returns nothing if there is no such process, or if the system does not tell.
std::optional<ProcessStatus> status_of(int process);

/// Whether all threads of the process have begun to end or have ended. Others may notice that earlier than its parent
/// does: the kernel closes its connections before it tells the parent. False as well if there is no such process, or if
/// the system does not tell.
bool is_ending(int process);

} // namespace kumiki::platform
