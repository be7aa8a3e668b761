#include "launch/host/front.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/system/descendants.hpp"
#include "launch/system/descriptor.hpp"
#include "launch/command/outcome.hpp"
#include "launch/host/far_link.hpp"
#include "launch/host/keeper.hpp"
#include "launch/host/near_link.hpp"
#include "launch/system/this_process.hpp"
#include "launch/command/outcome.hpp"
#include "launch/command/outcome.hpp"
#include "launch/system/signals.hpp"
#include "launch/system/this_process.hpp"

namespace kumiki::launch {
namespace {

std::unique_ptr<Link> link_of(const Job& job, std::optional<Channel> channel) {
    if (channel) return std::make_unique<FarLink>(job, std::move(*channel));
    return std::make_unique<NearLink>(job);
}

[[noreturn]] void become_keeper(const Job& job, Front front, std::optional<Channel> channel, char** argv) {
    set_title(argv, "kumiki-keeper");
    // A group of its own: neither the terminal's signals nor `kill -9` of the whole group of the front reach the one
    // who cleans up.
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    _exit(Keeper(job, std::move(front), link_of(job, std::move(channel))).run());
}

/// Hands signals on to the keeper until it has ended; returns its wait status.
int pass_signals(pid_t keeper, int words, const sigset_t& signals) {
    for (;;) {
        siginfo_t info{};
        const int signal = sigwaitinfo(&signals, &info);
        if (int status = 0; signal == SIGCHLD && waitpid(keeper, &status, WNOHANG) == keeper) return status;
        if (signal < 0 || signal == SIGCHLD) continue;
        const Word word{signal, info.si_code == SI_KERNEL};
        static_cast<void>(!write(words, &word, sizeof word));
        if (signal == SIGTSTP) stop_this_process();
    }
}

/// The keeper is dead, which takes a deliberate kill; what it leaves is ours, because we are a subreaper too.
int end_without_keeper(pid_t keeper, int status) {
    end_descendants();
    say(fmt::format("the process that watches over the job (process {}) was killed by {}; the ranks were ended", keeper,
                    signal_of(status)));
    return exit_code::signal_base + WTERMSIG(status);
}

} // namespace

int run(const Job& job, char** argv, std::optional<Channel> channel) {
    signal(SIGCHLD, SIG_DFL); // a parent that ignores it would keep us from learning how ranks end
    sigset_t awaited = signals_to_pass();
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, question);
    sigset_t blocked = awaited;
    sigaddset(&blocked, SIGPIPE); // a dead keeper is noticed by SIGCHLD
    const BlockedSignals signals(blocked);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    Pipe words = Pipe::create();
    Front front{.words = std::move(words.read),
                .process = getpid(),
                .group = getpgrp(),
                .origin = {signals.before(), raise_limit_of_open_files()}};
    const pid_t keeper = words.write ? fork() : -1;
    if (keeper == 0) {
        words.write.reset();
        become_keeper(job, std::move(front), std::move(channel), argv);
    }
    channel.reset(); // its end means that the keeper is gone
    if (keeper < 0) {
        say(fmt::format(
            "cannot start the job: {}; the limits of the user (ulimit -u, ulimit -n) do not allow another process",
            std::strerror(errno)));
        return exit_code::environment;
    }
    front.words.reset();
    const int status = pass_signals(keeper, words.write.get(), awaited);
    return WIFEXITED(status) ? WEXITSTATUS(status) : end_without_keeper(keeper, status);
}

} // namespace kumiki::launch
