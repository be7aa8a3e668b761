// What a team refuses, and with which sentence.
#include <gtest/gtest.h>
#include <limits>
#include <thread>

#include "support/jobs.hpp"
#include "support/teams.hpp"
#include "support/watchdog.hpp"

namespace kumiki::tests {
namespace {

TEST(TeamMisuseTest, TeamsThatCannotBe) {
    run_jobs_as_threads({.ranks = 1}, [](kumiki_job* job) {
        kumiki_team* team = nullptr;
        for (const int threads : {-1, -4096, 4097, 1 << 20, std::numeric_limits<int>::max()})
            expect_error(kumiki_team_create(job, threads, &team), KUMIKI_ERROR_ARGUMENT, {std::to_string(threads)});
        EXPECT_EQ(team, nullptr);
        kumiki_team_destroy(nullptr);
    });
}

TEST(TeamMisuseTest, ARunWithinARunIsRefused) {
    const Watchdog watchdog("nested runs");
    run_jobs_as_threads({.ranks = 1}, [](kumiki_job* job) {
        TestTeam team(job, 2);
        ASSERT_EQ(team.run([&](int) {
            expect_error(team.run([](int) { ADD_FAILURE(); }), KUMIKI_ERROR_STATE, {"already running"});
        }),
                  KUMIKI_OK);
        std::atomic<int> ran{0};
        ASSERT_EQ(team.run([&](int) { ++ran; }), KUMIKI_OK);
        EXPECT_EQ(ran.load(), 2);
        expect_error(kumiki_team_run(team.get(), nullptr, nullptr), KUMIKI_ERROR_ARGUMENT, {"null"});
    });
}

TEST(TeamMisuseTest, ATeamWithinATeamIsAnotherTeam) {
    const Watchdog watchdog("team in a team");
    run_jobs_as_threads({.ranks = 1}, [](kumiki_job* job) {
        TestTeam outer(job, 2);
        std::atomic<int> ran{0};
        ASSERT_EQ(outer.run([&](int) {
            TestTeam inner(job, 2);
            ASSERT_EQ(inner.run([&](int thread) {
                ++ran;
                EXPECT_EQ(kumiki_team_barrier(inner.get(), thread), KUMIKI_OK);
            }),
                      KUMIKI_OK);
        }),
                  KUMIKI_OK);
        EXPECT_EQ(ran.load(), 4);
    });
}

TEST(TeamMisuseTest, ReductionsThatDiffer) {
    const Watchdog watchdog("team reductions that differ");
    run_jobs_as_threads({.ranks = 1}, [](kumiki_job* job) {
        TestTeam team(job, 3);
        struct Call {
            std::size_t count;
            kumiki_type type;
            kumiki_operation operation;
        };
        const std::pair<Call, Call> calls[] = {{{1, KUMIKI_DOUBLE, KUMIKI_SUM}, {2, KUMIKI_DOUBLE, KUMIKI_SUM}},
                                               {{1, KUMIKI_DOUBLE, KUMIKI_SUM}, {1000, KUMIKI_DOUBLE, KUMIKI_SUM}},
                                               {{1000, KUMIKI_DOUBLE, KUMIKI_SUM}, {2000, KUMIKI_DOUBLE, KUMIKI_SUM}},
                                               {{1, KUMIKI_DOUBLE, KUMIKI_SUM}, {1, KUMIKI_INT64, KUMIKI_SUM}},
                                               {{1, KUMIKI_DOUBLE, KUMIKI_SUM}, {1, KUMIKI_DOUBLE, KUMIKI_MAX}}};
        for (const auto& [odd, others] : calls) {
            ASSERT_EQ(team.run([&, odd = odd, others = others](int thread) {
                std::vector<double> data(2000, 1.0);
                const Call& mine = thread == 1 ? odd : others;
                EXPECT_EQ(kumiki_team_reduce(team.get(), thread, data.data(), mine.count, mine.type, mine.operation),
                          KUMIKI_ERROR_ARGUMENT);
                EXPECT_EQ(kumiki_team_barrier(team.get(), thread), KUMIKI_OK) << "the run goes on";
            }),
                      KUMIKI_OK);
        }
    });
}

TEST(TeamMisuseTest, WrongValues) {
    const Watchdog watchdog("team misuse");
    run_jobs_as_threads({.ranks = 1}, [](kumiki_job* job) {
        TestTeam team(job, 2);
        ASSERT_EQ(team.run([&](int thread) {
            double value = 1;
            expect_error(kumiki_team_reduce(team.get(), thread, &value, 1, no_such<kumiki_type>(9), KUMIKI_SUM),
                         KUMIKI_ERROR_ARGUMENT, {"type", "9"});
            expect_error(kumiki_team_reduce(team.get(), thread, &value, 1, KUMIKI_DOUBLE, no_such<kumiki_operation>(9)),
                         KUMIKI_ERROR_ARGUMENT, {"operation", "9"});
            expect_error(kumiki_team_reduce(team.get(), thread, nullptr, 1, KUMIKI_DOUBLE, KUMIKI_SUM),
                         KUMIKI_ERROR_ARGUMENT, {"null"});
            expect_error(
                kumiki_team_reduce(team.get(), thread, &value, SIZE_MAX / sizeof value + 2, KUMIKI_DOUBLE, KUMIKI_SUM),
                KUMIKI_ERROR_ARGUMENT, {"more than there are addresses"});
            EXPECT_EQ(kumiki_team_reduce(team.get(), thread, nullptr, 0, KUMIKI_DOUBLE, KUMIKI_SUM), KUMIKI_OK);
            EXPECT_EQ(kumiki_team_barrier(team.get(), thread), KUMIKI_OK) << "the run goes on";
        }),
                  KUMIKI_OK);
    });
}

// The threads of the other ranks must not wait for those of this one.
TEST(TeamMisuseTest, AReductionOverAllThatOneRankRefuses) {
    const Watchdog watchdog("team reduction that one rank refuses");
    for (const int threads : {1, 2})
        run_jobs_as_threads({.ranks = 2}, [threads](kumiki_job* job) {
            TestTeam team(job, threads);
            const bool odd = kumiki_rank(job) == 1;
            ASSERT_EQ(team.run([&](int thread) {
                double value[2] = {1, 1};
                const auto reduce = [&](double* data, std::size_t count, kumiki_type type) {
                    return kumiki_team_reduce_all(team.get(), thread, data, count, type, KUMIKI_SUM);
                };
                const std::size_t too_many = SIZE_MAX / sizeof(double) + 2; // the product would be 8 bytes
                EXPECT_EQ(reduce(odd ? nullptr : value, 1, KUMIKI_DOUBLE), KUMIKI_ERROR_ARGUMENT);
                EXPECT_EQ(reduce(value, 1, odd ? no_such<kumiki_type>(9) : KUMIKI_DOUBLE), KUMIKI_ERROR_ARGUMENT);
                EXPECT_EQ(reduce(value, odd ? too_many : 1, KUMIKI_DOUBLE), KUMIKI_ERROR_ARGUMENT);
                if (threads > 1) {
                    EXPECT_EQ(reduce(value, odd && thread == 1 ? 2 : 1, KUMIKI_DOUBLE), KUMIKI_ERROR_ARGUMENT);
                }
                value[0] = 1;
                EXPECT_EQ(reduce(value, 1, KUMIKI_DOUBLE), KUMIKI_OK) << kumiki_error_message();
                EXPECT_EQ(value[0], 2 * threads);
            }),
                      KUMIKI_OK);
        });
}

TEST(TeamMisuseTest, ThreadsThatAreNotOfTheTeam) {
    const Watchdog watchdog("threads that are not of the team");
    run_jobs_as_threads({.ranks = 1}, [](kumiki_job* job) {
        TestTeam team(job, 2);
        double value = 1;
        for (const int thread : {-1, 2, 1 << 20}) {
            const std::vector<std::string> words = {"thread " + std::to_string(thread), "0 to 1"};
            expect_error(kumiki_team_barrier(team.get(), thread), KUMIKI_ERROR_ARGUMENT, words);
            expect_error(kumiki_team_barrier_all(team.get(), thread), KUMIKI_ERROR_ARGUMENT, words);
            expect_error(kumiki_team_reduce(team.get(), thread, &value, 1, KUMIKI_DOUBLE, KUMIKI_SUM),
                         KUMIKI_ERROR_ARGUMENT, words);
            expect_error(kumiki_team_reduce_all(team.get(), thread, &value, 1, KUMIKI_DOUBLE, KUMIKI_SUM),
                         KUMIKI_ERROR_ARGUMENT, words);
        }
    });
}

TEST(TeamMisuseTest, LeavingIsRefusedWhileATeamRuns) {
    const Watchdog watchdog("leaving within a run");
    run_jobs_as_threads({.ranks = 1}, [](kumiki_job* job) {
        TestTeam team(job, 2);
        ASSERT_EQ(
            team.run([&](int) { expect_error(kumiki_leave(job), KUMIKI_ERROR_STATE, {"leave", "team", "runs"}); }),
            KUMIKI_OK);
    });
}

} // namespace
} // namespace kumiki::tests
