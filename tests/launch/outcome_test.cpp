#include "launch/command/outcome.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace kumiki::launch {
namespace {

RankEnd exited(int code, bool joined = false) { return {1, 1234, W_EXITCODE(code, 0), joined}; }
RankEnd killed(int signal) { return {1, 1234, W_EXITCODE(0, signal), true}; }

TEST(Outcome, Codes) {
    EXPECT_FALSE(is_failure(exited(0)));
    EXPECT_TRUE(is_failure(exited(3)));
    EXPECT_TRUE(is_failure(exited(0, true)));
    EXPECT_TRUE(is_failure(killed(SIGTERM)));
    EXPECT_EQ(exit_code_of(exited(0)), 0);
    EXPECT_EQ(exit_code_of(exited(3, true)), 3);
    EXPECT_EQ(exit_code_of(exited(0, true)), 1);
    EXPECT_EQ(exit_code_of(killed(SIGKILL)), 137);
}

TEST(Outcome, Sentences) {
    const Share four{.host = {}, .first = 0, .ranks = 4, .size = 4}, one{};
    EXPECT_EQ(sentence(exited(3), four), "rank 1 of 4 (process 1234) exited with code 3; the other ranks were ended");
    EXPECT_EQ(sentence(killed(SIGKILL), four),
              "rank 1 of 4 (process 1234) was killed by signal 9 (Killed); the other ranks were ended");
    EXPECT_EQ(sentence(exited(0, true), four), "rank 1 of 4 (process 1234) ended without leaving the job (Job's "
                                               "destructor did not run); the other ranks were ended");
    EXPECT_EQ(sentence({0, 7, W_EXITCODE(0, SIGSEGV) | WCOREFLAG, false}, one),
              "rank 0 of 1 (process 7) was killed by signal 11 (Segmentation fault, core dumped)");
}

TEST(Outcome, SentencesNameTheHostWhenHostsHaveNames) {
    EXPECT_EQ(sentence(killed(SIGKILL), {"b", 1, 1, 8}),
              "rank 1 of 8 on host b (process 1234) was killed by signal 9 (Killed); the other ranks were ended");
    EXPECT_EQ(on_host({"b", 0, 1, 1}, "no"), "host b: no");
    EXPECT_EQ(on_host({}, "no"), "no");
}

} // namespace
} // namespace kumiki::launch
