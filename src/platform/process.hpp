#pragma once

#include <optional>

namespace kumiki::platform {

/// What the system's table of processes tells of one.
struct ProcessStatus {
    enum class State {
        alive,
        stopped, ///< by a signal: SIGSTOP, or the terminal's
        traced,  ///< held by a debugger
        dead,    ///< its parent has not asked yet how it ended
    };
    State state = State::alive;
    int parent = 0;
};

/// Nothing when there is no such process, or the system does not tell.
std::optional<ProcessStatus> status_of(int process);

} // namespace kumiki::platform
