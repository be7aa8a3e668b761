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

/// While it lives, the thread may fault again, though a handler of a fault calls. It must hold no lock.
class FaultsUnblocked {
public:
    FaultsUnblocked() {
        sigset_t faults;
        sigemptyset(&faults);
        for (const int fault : {SIGSEGV, SIGBUS}) sigaddset(&faults, fault);
        pthread_sigmask(SIG_UNBLOCK, &faults, &before_);
    }
    ~FaultsUnblocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    FaultsUnblocked(const FaultsUnblocked&) = delete;
    FaultsUnblocked& operator=(const FaultsUnblocked&) = delete;

private:
    sigset_t before_{};
};

} // namespace kumiki::platform
