#pragma once

#include <array>
#include <chrono>
#include <csignal>

namespace kumiki::launch {

/// Signals that ask a job to end.
inline constexpr std::array ending_signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
/// Signals that are also passed on; the program decides what they mean.
inline constexpr std::array other_signals = {SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

bool asks_to_end(int signal);

/// A second request to end means "at once". But `timeout` and other programs send the same signal to the launcher and
/// to its group, so requests within this time count as one.
inline constexpr std::chrono::milliseconds one_request(200);

/// The signals to pass on to the ranks, without those that the launcher was started to ignore (nohup, background jobs
/// of a script).
sigset_t signals_to_pass();

/// Stops this process as the terminal's Ctrl-Z would; the shell sees a stopped job, and continues it by SIGCONT.
/// SIGTSTP is blocked before the call and after it.
void stop_this_process();

/// With this signal the host daemon asks the supervisor whether there is a signal of which it has not been told yet.
/// The kernel delivers pending signals in the order of their numbers, and this number is above all those that are
/// passed on, so the supervisor handles those signals before it answers.
inline constexpr int signal_query = SIGURG;

/// The record that the supervisor writes to the host daemon for each signal.
struct SignalNotice {
    int signal = 0;                 ///< `signal_query`: this is the answer to the query
    bool has_reached_ranks = false; ///< the terminal sends to all processes of its foreground group
};

/// Blocks signals for as long as it lives.
class BlockedSignals {
public:
    explicit BlockedSignals(const sigset_t& signals) { sigprocmask(SIG_BLOCK, &signals, &before_); }
    ~BlockedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

    /// The signals that were blocked before.
    const sigset_t& before() const { return before_; }

private:
    sigset_t before_{};
};

} // namespace kumiki::launch
