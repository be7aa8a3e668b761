#include "launch/controller/agent.hpp"

#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kumiki::launch {
namespace {

using namespace std::chrono_literals;

Agent started(const std::string& script) {
    Origin origin{};
    sigprocmask(SIG_SETMASK, nullptr, &origin.mask);
    getrlimit(RLIMIT_NOFILE, &origin.open_files);
    return start_agent({"sh", "-c", script}, origin).value();
}

TEST(Agent, TellsHowItEnded) {
    const auto end = end_agent(started("exit 7").process, 10s, [] {});
    EXPECT_TRUE(end.gone);
    ASSERT_TRUE(end.status);
    EXPECT_EQ(end_of_agent(*end.status), "ended with code 7");
}

TEST(Agent, IsKilledWhenItDoesNotEnd) {
    const auto end = end_agent(started("trap '' TERM; sleep 60").process, 20ms, [] {});
    EXPECT_TRUE(end.gone);
    EXPECT_FALSE(end.status) << "that is not how it ended by itself";
}

TEST(Agent, IsHeardWhileItEnds) {
    const Agent agent = started("head -c 1000000 /dev/zero >&2");
    const auto hear = [&] {
        char some[4096];
        while (read(agent.errors.get(), some, sizeof some) > 0) {}
    };
    EXPECT_TRUE(end_agent(agent.process, 10s, hear).status) << "it waited in its last words";
}

TEST(Agent, ThatCannotBeKilledIsGivenUp) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to have a process of another user";
    const Agent agent = started("exec sleep 60");
    // Another user cannot kill root's process; with sudo as the agent this is the usual case.
    ASSERT_EQ(setresuid(65534, 65534, 0), 0);
    const auto begin = std::chrono::steady_clock::now();
    const auto end = end_agent(agent.process, 0ms, [] {});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    ASSERT_EQ(setresuid(0, 0, 0), 0);
    EXPECT_FALSE(end.gone);
    kill(agent.process, SIGKILL);
    waitpid(agent.process, nullptr, 0);
}

} // namespace
} // namespace kumiki::launch
