#include "support/processes.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kumiki::tests {
namespace {

[[noreturn]] void run(const std::function<void()>& body) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a killed test leaves no ranks behind
    // Tests stop processes. Where no terminal controls the tests, the kernel sends SIGHUP to all processes of a group
    // in which one is stopped while a rank of some kumiki-run ends, whose parent has a group of its own.
    setpgid(0, 0);
    try {
        body();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "a test's process ended by an exception: %s\n", error.what());
        _exit(1);
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
}

} // namespace

Processes::~Processes() {
    for (const Child& child : children_)
        if (!child.ending) {
            ::kill(child.id, SIGKILL);
            waitpid(child.id, nullptr, 0);
        }
}

void Processes::start(const std::function<void()>& body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) run(body);
    ASSERT_GT(child, 0) << "fork failed";
    children_.push_back({child, {}});
}

void Processes::kill(int which, int signal) {
    const Child& child = children_.at(static_cast<std::size_t>(which));
    if (!child.ending) ::kill(child.id, signal);
}

void Processes::stop(int which) {
    kill(which, SIGSTOP);
    int status = 0;
    const pid_t id = children_.at(static_cast<std::size_t>(which)).id;
    EXPECT_EQ(waitpid(id, &status, WUNTRACED), id);
    EXPECT_TRUE(WIFSTOPPED(status));
}

std::optional<Ending> Processes::ended_within(int which, std::chrono::milliseconds patience) {
    Child& child = children_.at(static_cast<std::size_t>(which));
    const auto end = std::chrono::steady_clock::now() + patience;
    int status = 0;
    while (!child.ending && waitpid(child.id, &status, WNOHANG) != child.id) {
        if (std::chrono::steady_clock::now() > end) return std::nullopt;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!child.ending)
        child.ending = WIFSIGNALED(status) ? Ending{{}, WTERMSIG(status)} : Ending{WEXITSTATUS(status), {}};
    return child.ending;
}

void expect_good_ends(Processes& processes, std::chrono::milliseconds patience) {
    for (int which = 0; which < processes.count(); ++which) {
        const auto ending = processes.ended_within(which, patience);
        ASSERT_TRUE(ending) << "process " << which << " hangs";
        EXPECT_FALSE(ending->signal) << "process " << which << " was killed by signal " << *ending->signal;
        EXPECT_EQ(ending->code.value_or(0), 0) << "process " << which;
    }
}

} // namespace kumiki::tests
