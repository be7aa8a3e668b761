#pragma once

#include <csignal>
#include <optional>

#include "platform/signal_sets.hpp"

namespace kumiki::openmp {

/// Whether the program has ever installed a handler of a signal.
bool handles_signals();

/// While it lives, the handlers that the calling thread installs do not count as the program's: they print where it has
/// failed, and end it.
class LastHandlers {
public:
    LastHandlers();
    ~LastHandlers();
    LastHandlers(const LastHandlers&) = delete;
    LastHandlers& operator=(const LastHandlers&) = delete;
};

/// While it lives, no handler of the program interrupts the calling thread: a handler may use memory, atomic
/// instructions and locks as any code of the program, and so must not come while the thread is in the middle of what
/// makes these possible. It costs nothing in programs without handlers.
class SignalsLater {
public:
    SignalsLater();

private:
    std::optional<platform::SignalsBlocked> blocked_;
};

/// From now on the calling thread gets no signals that were sent to the process. Returns those that it did not get
/// before.
sigset_t leave_signals_to_others();

} // namespace kumiki::openmp
