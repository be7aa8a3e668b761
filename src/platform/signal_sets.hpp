#pragma once

#include <csignal>

namespace kumiki::platform {

/// All signals but those that a thread's own mistake brings, and those by which the runtime learns of faults: the
/// system ends the process if one of them comes while it is blocked.
inline sigset_t asynchronous_signals() {
    sigset_t signals;
    sigfillset(&signals);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP, SIGABRT}) sigdelset(&signals, fault);
    return signals;
}

/// While it lives, these signals do not come to the calling thread, nor to threads that it starts meanwhile.
class SignalsBlocked {
public:
    SignalsBlocked() {
        const sigset_t blocked = asynchronous_signals();
        pthread_sigmask(SIG_BLOCK, &blocked, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t before_{};
};

} // namespace kumiki::platform
