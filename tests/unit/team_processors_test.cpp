// On which processors the threads of a team run.
#include <gtest/gtest.h>
#include <filesystem>
#include <fmt/ranges.h>

#include "platform/thread.hpp"
#include "support/jobs.hpp"
#include "support/teams.hpp"

namespace kumiki::tests {
namespace {

/// The processors that each thread of a team of `threads` may use, in a program whose launcher assigned it `given`.
void expect_processors(const std::vector<int>& given, int threads, const std::vector<std::vector<int>>& expected) {
    const std::string list = fmt::format("{}", fmt::join(given, ","));
    run_programs({.ranks = 1}, [&](int) {
        setenv("KUMIKI_CPUS", list.c_str(), 1);
        kumiki_job* job = nullptr;
        ASSERT_EQ(kumiki_join(&job), KUMIKI_OK) << kumiki_error_message();
        const auto before = platform::usable_cpus();
        {
            TestTeam first(job, static_cast<int>(given.size())); // binds this thread to the first processor
            TestTeam team(job, threads);
            ASSERT_EQ(team.run([&](int thread) {
                EXPECT_EQ(platform::usable_cpus(), expected[static_cast<std::size_t>(thread)]) << "thread " << thread;
            }),
                      KUMIKI_OK);
        }
        EXPECT_EQ(platform::usable_cpus(), before) << "the caller is free again";
        ASSERT_EQ(kumiki_leave(job), KUMIKI_OK);
    });
}

/// Runs `body` in a rank of its own with a processor for each of two threads.
void with_two_processors(const std::function<void(kumiki_job*)>& body) {
    const auto cpus = platform::usable_cpus();
    if (cpus.size() < 2) GTEST_SKIP() << "one processor";
    run_programs({.ranks = 1}, [&](int) {
        setenv("KUMIKI_CPUS", fmt::format("{},{}", cpus[0], cpus[1]).c_str(), 1);
        kumiki_job* job = nullptr;
        ASSERT_EQ(kumiki_join(&job), KUMIKI_OK) << kumiki_error_message();
        body(job);
    });
}

std::ptrdiff_t threads_of_this_process() {
    using Directory = std::filesystem::directory_iterator;
    return std::distance(Directory("/proc/self/task"), Directory());
}

TEST(TeamProcessorsTest, TheCallerIsFreeWhenItsLastTeamEnds) {
    with_two_processors([](kumiki_job* job) {
        const auto before = platform::usable_cpus();
        kumiki_team *first = nullptr, *second = nullptr;
        ASSERT_EQ(kumiki_team_create(job, 2, &first), KUMIKI_OK);
        ASSERT_EQ(kumiki_team_create(job, 2, &second), KUMIKI_OK);
        kumiki_team_destroy(first);
        EXPECT_EQ(platform::usable_cpus().size(), 1U) << "it is thread 0 of the second team";
        kumiki_team_destroy(second);
        EXPECT_EQ(platform::usable_cpus(), before);
        EXPECT_EQ(kumiki_leave(job), KUMIKI_OK);
    });
}

TEST(TeamProcessorsTest, LeavingEndsTheTeamsThatRemain) {
    with_two_processors([](kumiki_job* job) {
        const auto before = platform::usable_cpus();
        const auto threads = threads_of_this_process();
        kumiki_team *first = nullptr, *second = nullptr;
        ASSERT_EQ(kumiki_team_create(job, 2, &first), KUMIKI_OK);
        ASSERT_EQ(kumiki_team_create(job, 2, &second), KUMIKI_OK);
        EXPECT_EQ(kumiki_leave(job), KUMIKI_OK);
        EXPECT_EQ(platform::usable_cpus(), before);
        EXPECT_LE(threads_of_this_process(), threads);
    });
}

TEST(TeamProcessorsTest, EachThreadHasItsOwnWhenThereAreEnough) {
    const auto cpus = platform::usable_cpus();
    if (cpus.size() < 2) GTEST_SKIP() << "one processor";
    const std::vector<int> two{cpus[0], cpus[1]};
    expect_processors(two, 2, {{two[0]}, {two[1]}});
}

// A team that is larger than the rank's share must not crowd onto the processor to which its creator happens to be
// bound.
TEST(TeamProcessorsTest, MoreThreadsThanProcessorsShareThemAll) {
    const auto cpus = platform::usable_cpus();
    if (cpus.size() < 2) GTEST_SKIP() << "one processor";
    const std::vector<int> two{cpus[0], cpus[1]};
    expect_processors(two, 3, {two, two, two});
}

} // namespace
} // namespace kumiki::tests
