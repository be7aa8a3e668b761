#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/shm/segment.hpp"
#include "launch/command/job.hpp"
#include "launch/host/environment.hpp"
#include "launch/host/link.hpp"
#include "launch/host/stopped_ranks.hpp"
#include "platform/descriptor.hpp"
#include "launch/system/events.hpp"
#include "launch/system/signals.hpp"
#include "launch/system/this_process.hpp"
#include "launch/system/timer.hpp"

namespace kumiki::launch {

/// The connection of the host daemon to the supervisor, its parent.
struct Supervisor {
    platform::Descriptor notices; ///< one SignalNotice after another; ends when the supervisor is dead
    pid_t process;                ///< of the supervisor itself
    pid_t group;                  ///< its process group
    InheritedState inherited;
};

/// The process that starts the ranks of a host, monitors them and ends them together. It must be a subreaper and have
/// all signals blocked.
class HostDaemon : private LinkListener {
public:
    HostDaemon(const Job& job, Supervisor supervisor, std::unique_ptr<Link> link);
    /// Runs the job and returns the launcher's exit code when everything that belongs to the job has ended. Does not
    /// return if the supervisor dies or the link is lost.
    int run();

private:
    using Clock = std::chrono::steady_clock;

    Result<> prepare();
    std::vector<pid_t> run_ranks();
    void start_ranks();
    bool start_rank(int rank, const Environment& environment);
    void watch();
    void read_notices();
    void on_signal(const SignalNotice& notice) override;
    [[noreturn]] void on_link_lost() override;
    void ask_supervisor();
    void read_exec_failures();
    void reap();
    void rank_ended(int rank, int status);
    void reconsider(Verdict verdict);
    void look_for_stopped();
    bool job_is_stopped() const;
    void beat();
    void on_stopped_count(int ranks) override;
    void end_by_user(const SignalNotice& notice);
    void end_with(Verdict verdict) override;
    void on_end() override;
    void set_verdict(Verdict verdict);
    void ask_to_end();
    void set_deadline();
    void pass_on(int signal) const;
    void finish_output();

    const Job& job_;
    Supervisor supervisor_;
    std::unique_ptr<Link> link_;
    Events events_;
    std::optional<fabric::shm::Segment> segment_;
    platform::Descriptor shared_;        ///< the descriptor of the segment, which the ranks inherit
    platform::Descriptor child_signals_; ///< readable when a child has ended
    platform::Pipe exec_failures_;
    std::vector<pid_t> ranks_;     ///< by number on this host; 0: not started yet, or ended
    std::vector<bool> was_ending_; ///< by number on this host, when all were asked to end
    StoppedRanks stopped_;
    PeriodicTimer timer_;
    bool paused_ = false; ///< the user has stopped the job
    int running_ = 0;     ///< the number of ranks that have not ended
    bool children_left_ = true;
    bool answered_ = false;          ///< the supervisor has answered the last query
    bool asked_ = false;             ///< all descendants have been asked to end
    bool at_once_ = false;           ///< the user does not want to wait for the grace period
    std::optional<Verdict> verdict_; ///< why the job ends early; the first reason counts, but see reconsider()
    std::optional<Clock::time_point> ending_since_, deadline_;
};

} // namespace kumiki::launch
