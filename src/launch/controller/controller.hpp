#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/command/hosts.hpp"
#include "launch/command/options.hpp"
#include "launch/command/outcome.hpp"
#include "launch/controller/remote_host.hpp"
#include "launch/streams/input.hpp"
#include "launch/streams/printer.hpp"
#include "launch/system/events.hpp"
#include "launch/system/signals.hpp"
#include "settings/settings.hpp"

namespace kumiki::launch {

/// The data that all hosts of a job have in common.
struct HostsJob {
    std::string program; ///< the path of kumiki-run itself, the same on all hosts
    std::string folder;  ///< the folder in which the ranks start
    std::vector<std::string> remote_shell;
    std::chrono::seconds timeout; ///< after this time without a heartbeat a host is given up
    bool label = false;
    bool verbose = false;
    bool openmp = false;              ///< the program runs on Kumiki's OpenMP runtime
    std::vector<std::string> command; ///< the program of the ranks and its arguments
    Variables settings, environment;
};

/// The process that the user has started, in a job over several hosts: it starts a remote shell for each host, passes
/// on signals, input, output and cards, and returns the exit code. The first reason to end the job that reaches the
/// controller becomes the verdict, unless it is an abort that the death of another rank may have caused.
class Controller {
public:
    Controller(HostsJob job, const std::vector<Share>& shares);
    /// Runs the job and returns the launcher's exit code when every process of the job that can be reached has ended.
    int run();

private:
    using Clock = std::chrono::steady_clock;
    using State = RemoteHost::State;

    void start_hosts(const InheritedState& inherited);
    void watch();
    bool all_are(State state) const;

    void handle(std::size_t host, const Frame& frame);
    void give_order(RemoteHost& host, const std::string& version);
    void start_ranks();
    std::vector<RankRequest> ranks_on_cores_of(std::size_t host) const;
    void print(std::size_t host, Bytes bytes);
    void take_mark(RemoteHost& host, const Mark& mark);
    void count_stopped(std::size_t host, int ranks);
    void take_verdict(RemoteHost& host, Verdict verdict);
    void host_lost(RemoteHost& host);
    void give_up(RemoteHost& host, std::chrono::seconds silent_for);

    void take_signals();
    void take_signal(int signal);
    void reap_remote_shells();
    void end_with(Verdict verdict);
    template <class Message>
    void tell(RemoteHost& host, const Message& message);
    template <class Message>
    void tell_all(const Message& message);
    void end_remote_shells();
    void finish_output();
    int finish();

    const HostsJob job_;
    Events events_;
    platform::Descriptor signals_;
    std::vector<std::unique_ptr<RemoteHost>> hosts_;
    std::vector<Ready> ready_; ///< by host: its answer to the instructions
    std::vector<int> stopped_; ///< by host: how many of its ranks are stopped
    Printer printer_;
    InputSource input_;
    std::optional<Verdict> verdict_;
    std::optional<Clock::time_point> start_by_; ///< until the first rank starts
    std::optional<Clock::time_point> ending_since_, give_up_at_;
};

/// Runs the job over these hosts and returns the launcher's exit code.
int run_on_hosts(const Options& options, const Settings& settings, const std::vector<Share>& shares);

} // namespace kumiki::launch
