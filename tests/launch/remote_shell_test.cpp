#include "launch/controller/remote_shell.hpp"

#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kumiki::launch {
namespace {

using namespace std::chrono_literals;

RemoteShell started(const std::string& script) {
    InheritedState inherited{};
    sigprocmask(SIG_SETMASK, nullptr, &inherited.mask);
    getrlimit(RLIMIT_NOFILE, &inherited.open_files);
    return start_remote_shell({"sh", "-c", script}, inherited).value();
}

TEST(RemoteShell, TellsHowItEnded) {
    const auto end = end_remote_shell(started("exit 7").process, 10s, [] {});
    EXPECT_TRUE(end.gone);
    ASSERT_TRUE(end.status);
    EXPECT_EQ(how_it_ended(*end.status), "ended with code 7");
}

TEST(RemoteShell, IsKilledWhenItDoesNotEnd) {
    const auto end = end_remote_shell(started("trap '' TERM; sleep 60").process, 20ms, [] {});
    EXPECT_TRUE(end.gone);
    EXPECT_FALSE(end.status) << "that is not how it ended by itself";
}

TEST(RemoteShell, IsHeardWhileItEnds) {
    const RemoteShell shell = started("head -c 1000000 /dev/zero >&2");
    const auto hear = [&] {
        char some[4096];
        while (read(shell.errors.get(), some, sizeof some) > 0) {}
    };
    EXPECT_TRUE(end_remote_shell(shell.process, 10s, hear).status) << "it waited in its last words";
}

TEST(RemoteShell, ThatCannotBeKilledIsGivenUp) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to have a process of another user";
    const RemoteShell shell = started("exec sleep 60");
    // Another user cannot kill root's process; with sudo as the shell this is the usual case.
    ASSERT_EQ(setresuid(65534, 65534, 0), 0);
    const auto begin = std::chrono::steady_clock::now();
    const auto end = end_remote_shell(shell.process, 0ms, [] {});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    ASSERT_EQ(setresuid(0, 0, 0), 0);
    EXPECT_FALSE(end.gone);
    kill(shell.process, SIGKILL);
    waitpid(shell.process, nullptr, 0);
}

} // namespace
} // namespace kumiki::launch
