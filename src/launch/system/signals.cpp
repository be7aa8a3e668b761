#include "launch/system/signals.hpp"

#include <algorithm>

namespace kumiki::launch {

bool asks_to_end(int signal) { return std::ranges::find(ending_signals, signal) != ending_signals.end(); }

void stop_this_process() {
    sigset_t signal;
    sigemptyset(&signal);
    sigaddset(&signal, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &signal, nullptr);
    sigprocmask(SIG_BLOCK, &signal, nullptr);
}

sigset_t signals_to_pass() {
    sigset_t signals;
    sigemptyset(&signals);
    const auto add = [&](int signal) {
        struct sigaction action{};
        sigaction(signal, nullptr, &action);
        if (action.sa_handler != SIG_IGN) sigaddset(&signals, signal);
    };
    std::ranges::for_each(ending_signals, add);
    std::ranges::for_each(other_signals, add);
    return signals;
}

} // namespace kumiki::launch
