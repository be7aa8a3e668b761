// The launcher's view of ranks that join and leave the job's memory.

#include <cstdio>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>

namespace {

struct Outcome {
    int code;
    std::string said;
};

Outcome run_ranks(const std::string& arguments) {
    const auto command = fmt::format("{} -n 3 {} {} 2>&1", KUMIKI_RUN, KUMIKI_TEST_RANK, arguments);
    FILE* pipe = popen(command.c_str(), "r");
    std::string said;
    for (int letter = 0; (letter = std::fgetc(pipe)) != EOF;) said += static_cast<char>(letter);
    return {WEXITSTATUS(pclose(pipe)), said};
}

TEST(Job, EndsWellWhenAllRanksHaveLeft) {
    const auto outcome = run_ranks("left 0");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.said, "");
}

TEST(Job, FailsWhenARankEndsWithoutLeaving) {
    const auto outcome = run_ranks("joined 0");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(
        outcome.said.find("ended without leaving the job (Job's destructor did not run); the other ranks were ended\n"),
        std::string::npos)
        << outcome.said;
}

TEST(Job, EndsWellWhenARankEndsItForAll) {
    const auto outcome = run_ranks("over 0");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.said, "");
}

TEST(Job, FailsWithTheCodeOfARankThatEndsItForAll) {
    const auto outcome = run_ranks("over 4");
    EXPECT_EQ(outcome.code, 4);
    EXPECT_NE(outcome.said.find("exited with code 4"), std::string::npos) << outcome.said;
}

TEST(Job, FailsWithTheCodeOfARankThatHasLeft) {
    const auto outcome = run_ranks("left 4");
    EXPECT_EQ(outcome.code, 4);
    EXPECT_NE(outcome.said.find("exited with code 4"), std::string::npos) << outcome.said;
}

} // namespace
