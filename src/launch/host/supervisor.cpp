#include "launch/host/supervisor.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/command/outcome.hpp"
#include "launch/host/host_daemon.hpp"
#include "launch/host/local_link.hpp"
#include "launch/host/remote_link.hpp"
#include "launch/system/descendants.hpp"
#include "platform/descriptor.hpp"
#include "launch/system/signals.hpp"
#include "launch/system/this_process.hpp"

namespace kumiki::launch {
namespace {

std::unique_ptr<Link> link_of(const Job& job, std::optional<Channel> channel) {
    if (channel) return std::make_unique<RemoteLink>(job, std::move(*channel));
    return std::make_unique<LocalLink>(job);
}

[[noreturn]] void become_host_daemon(const Job& job, Supervisor supervisor, std::optional<Channel> channel,
                                     char** argv) {
    set_process_name(argv, "kumiki-daemon");
    // The host daemon, which cleans up, has a group of its own, so that neither the terminal's signals nor `kill -9` of
    // the supervisor's whole group reach it.
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    _exit(HostDaemon(job, std::move(supervisor), link_of(job, std::move(channel))).run());
}

/// Passes signals on to the host daemon until it has ended; returns its wait status.
int pass_signals(pid_t daemon, int notices, const sigset_t& signals) {
    for (;;) {
        siginfo_t info{};
        const int signal = sigwaitinfo(&signals, &info);
        if (int status = 0; signal == SIGCHLD && waitpid(daemon, &status, WNOHANG) == daemon) return status;
        if (signal < 0 || signal == SIGCHLD) continue;
        const SignalNotice notice{signal, info.si_code == SI_KERNEL};
        static_cast<void>(!write(notices, &notice, sizeof notice));
        if (signal == SIGTSTP) stop_this_process();
    }
}

/// The host daemon is dead; only a deliberate kill can cause this. Its orphans are now children of this process, which
/// is also a subreaper.
int end_without_daemon(pid_t daemon, int status) {
    end_descendants();
    say(fmt::format("the process that watches over the job (process {}) was killed by {}; the ranks were ended", daemon,
                    signal_of(status)));
    return exit_code::signal_base + WTERMSIG(status);
}

} // namespace

int run(const Job& job, char** argv, std::optional<Channel> channel) {
    signal(SIGCHLD, SIG_DFL); // a parent that ignores it would keep us from learning how ranks end
    sigset_t awaited = signals_to_pass();
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, signal_query);
    sigset_t blocked = awaited;
    sigaddset(&blocked, SIGPIPE); // SIGCHLD reports a dead host daemon
    const BlockedSignals signals(blocked);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    platform::Pipe notices = platform::Pipe::create();
    Supervisor supervisor{.notices = std::move(notices.read),
                          .process = getpid(),
                          .group = getpgrp(),
                          .inherited = {signals.before(), raise_limit_of_open_files()}};
    const pid_t daemon = notices.write ? fork() : -1;
    if (daemon == 0) {
        notices.write.reset();
        become_host_daemon(job, std::move(supervisor), std::move(channel), argv);
    }
    channel.reset(); // so that the channel ends when the host daemon is gone
    if (daemon < 0) {
        say(fmt::format(
            "cannot start the job: {}; the limits of the user (ulimit -u, ulimit -n) do not allow another process",
            std::strerror(errno)));
        return exit_code::environment;
    }
    supervisor.notices.reset();
    const int status = pass_signals(daemon, notices.write.get(), awaited);
    return WIFEXITED(status) ? WEXITSTATUS(status) : end_without_daemon(daemon, status);
}

} // namespace kumiki::launch
