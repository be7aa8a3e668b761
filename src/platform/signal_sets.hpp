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

/// The signals by which an access to memory fails.
inline sigset_t access_faults() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int fault : {SIGSEGV, SIGBUS}) sigaddset(&signals, fault);
    return signals;
}

/// While it lives, the calling thread has another mask of signals.
class SignalMask {
public:
    /// `how`: SIG_BLOCK or SIG_UNBLOCK.
    SignalMask(int how, const sigset_t& signals) { pthread_sigmask(how, &signals, &before_); }
    ~SignalMask() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalMask(const SignalMask&) = delete;
    SignalMask& operator=(const SignalMask&) = delete;

private:
    sigset_t before_{};
};

/// While it lives, these signals do not come to the calling thread, nor to threads that it starts meanwhile.
class SignalsBlocked : SignalMask {
public:
    SignalsBlocked() : SignalMask(SIG_BLOCK, asynchronous_signals()) {}
};

/// While it lives, the thread may fault again, though a handler of a fault calls. It must hold no lock.
class FaultsUnblocked : SignalMask {
public:
    FaultsUnblocked() : SignalMask(SIG_UNBLOCK, access_faults()) {}
};

} // namespace kumiki::platform
