#pragma once

#include <array>
#include <chrono>
#include <csignal>

namespace kumiki::launch {

/// Signals that ask a job to end.
inline constexpr std::array ending_signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
/// Signals that are passed on as well, and mean what the program makes of them.
inline constexpr std::array other_signals = {SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

bool asks_to_end(int signal);

/// A second request to end means "at once"; but `timeout` and others send the same signal to the launcher and to its
/// group: what comes within this time is one request.
inline constexpr std::chrono::milliseconds one_request(200);

/// The signals to pass on to the ranks. Those that the launcher was started to ignore (nohup, background jobs of a
/// script) are not among them.
sigset_t signals_to_pass();

/// Stops this process as the terminal's Ctrl-Z would; the shell sees a stopped job, and continues it by SIGCONT.
/// SIGTSTP is blocked before and after.
void stop_this_process();

/// The keeper's question to the front whether there is a signal that it has not yet heard of. Pending signals are taken
/// in the order of their numbers, and this number is above all those that are passed on: the answer comes after them.
inline constexpr int question = SIGURG;

/// What the front tells the keeper.
struct Word {
    int signal = 0;                 ///< `question`: the answer to it
    bool has_reached_ranks = false; ///< the terminal sends to all processes of its foreground group
};

/// Blocks signals for as long as it lives.
class BlockedSignals {
public:
    explicit BlockedSignals(const sigset_t& signals) { sigprocmask(SIG_BLOCK, &signals, &before_); }
    ~BlockedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

    /// What was blocked before.
    const sigset_t& before() const { return before_; }

private:
    sigset_t before_{};
};

} // namespace kumiki::launch
