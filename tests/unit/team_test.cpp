// Teams through the C interface: ranks that are threads, each with a team of its own.
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/random.hpp"
#include "support/teams.hpp"
#include "support/watchdog.hpp"
#include "wait/meeting.hpp"

namespace kumiki::tests {
namespace {

struct Shape {
    int ranks, threads;
    bool crowded;
    WaitPolicy wait = WaitPolicy::adaptive;
};

class TeamTest : public testing::TestWithParam<Shape> {
protected:
    JobOptions options() const {
        return {.ranks = GetParam().ranks, .crowded = GetParam().crowded, .wait = GetParam().wait};
    }
};
class TeamStress : public TeamTest {};

const Shape shapes[] = {{1, 1, false}, {1, 2, false}, {1, 4, true},
                        {2, 1, false}, {2, 2, true},  {2, 2, false, WaitPolicy::sleep},
                        {3, 3, true},  {1, 8, false}};
INSTANTIATE_TEST_SUITE_P(Shapes, TeamTest, testing::ValuesIn(shapes));
INSTANTIATE_TEST_SUITE_P(Shapes, TeamStress, testing::ValuesIn(shapes));

TEST_P(TeamTest, EveryRunIsOncePerThreadAndSeesWhatWasWrittenBefore) {
    const Watchdog watchdog("team runs");
    const int threads = GetParam().threads;
    run_jobs_as_threads(options(), [&](kumiki_job* job) {
        TestTeam team(job, threads);
        EXPECT_EQ(kumiki_team_size(team.get()), threads);
        const auto caller = std::this_thread::get_id();
        std::vector<int> runs(static_cast<std::size_t>(threads)); // plain memory, because a run orders all accesses
        for (int run = 1; run <= 200; ++run) {
            ASSERT_EQ(team.run([&](int thread) {
                EXPECT_TRUE(thread != 0 || std::this_thread::get_id() == caller);
                EXPECT_EQ(runs[static_cast<std::size_t>(thread)]++, run - 1);
            }),
                      KUMIKI_OK);
            for (const int count : runs) ASSERT_EQ(count, run);
        }
    });
}

TEST_P(TeamStress, BarriersSeparatePhasesOfARankAndOfTheJob) {
    const Watchdog watchdog("team barriers");
    const auto [ranks, threads, crowded, wait] = GetParam();
    std::vector<wait::Flag> phase(static_cast<std::size_t>(ranks * threads));
    run_jobs_as_threads(options(), [&, threads = threads](kumiki_job* job) {
        TestTeam team(job, threads);
        const std::size_t first = static_cast<std::size_t>(kumiki_rank(job) * threads);
        ASSERT_EQ(team.run([&](int thread) {
            Random random(first + static_cast<std::size_t>(thread));
            for (std::uint64_t now = 1; now <= rounds(1000); ++now) {
                if (random.once_in(64)) compute_for(std::chrono::microseconds(random.between(0, 50)));
                phase[first + static_cast<std::size_t>(thread)].value.store(now, std::memory_order_relaxed);
                const bool of_all = now % 2 == 0;
                ASSERT_EQ(of_all ? kumiki_team_barrier_all(team.get(), thread)
                                 : kumiki_team_barrier(team.get(), thread),
                          KUMIKI_OK);
                const auto met =
                    of_all ? std::span(phase) : std::span(phase).subspan(first, static_cast<std::size_t>(threads));
                for (const auto& other : met) ASSERT_GE(other.value.load(std::memory_order_relaxed), now);
            }
        }),
                  KUMIKI_OK);
    });
}

template <class T>
constexpr kumiki_type type_of = KUMIKI_DOUBLE;
template <>
constexpr kumiki_type type_of<std::int32_t> = KUMIKI_INT32;

template <class T>
T value(std::size_t contributor, std::size_t i, std::size_t number) {
    const std::size_t bits = (contributor * 97 + i) * 31 + number;
    if constexpr (std::is_integral_v<T>) return static_cast<T>(bits * 2654435761u);
    else return static_cast<T>(static_cast<double>(bits % 1009) * 0.37 - 100.0);
}

/// Reduces over the threads of the rank, or of all ranks, and compares with the model's bits.
template <class T>
void reduce_and_compare(kumiki_job* job, kumiki_team* team, int thread, std::size_t count, std::size_t number,
                        bool all) {
    const auto threads = static_cast<std::size_t>(kumiki_team_size(team));
    const auto ranks = static_cast<std::size_t>(kumiki_size(job)), rank = static_cast<std::size_t>(kumiki_rank(job));
    const auto operation = static_cast<kumiki_operation>(number % 4);
    const auto combine = [operation](T a, T b) -> T {
        if (operation == KUMIKI_MIN) return std::min(a, b);
        if (operation == KUMIKI_MAX) return std::max(a, b);
        if constexpr (std::is_integral_v<T>) {
            const auto x = static_cast<std::make_unsigned_t<T>>(a), y = static_cast<std::make_unsigned_t<T>>(b);
            return static_cast<T>(operation == KUMIKI_SUM ? x + y : x * y);
        } else return operation == KUMIKI_SUM ? a + b : a * b;
    };
    const auto of_rank = [&](std::size_t which, std::size_t i) { // in the order of threads, as documented
        T result = value<T>(which * threads, i, number);
        for (std::size_t other = 1; other < threads; ++other)
            result = combine(result, value<T>(which * threads + other, i, number));
        return result;
    };
    std::vector<T> data(count);
    for (std::size_t i = 0; i < count; ++i)
        data[i] = value<T>(rank * threads + static_cast<std::size_t>(thread), i, number);
    ASSERT_EQ(all ? kumiki_team_reduce_all(team, thread, data.data(), count, type_of<T>, operation)
                  : kumiki_team_reduce(team, thread, data.data(), count, type_of<T>, operation),
              KUMIKI_OK)
        << kumiki_error_message();
    for (std::size_t i = 0; i < count; ++i) {
        T expected = all ? of_rank(0, i) : of_rank(rank, i);
        for (std::size_t other = 1; all && other < ranks; ++other) expected = combine(expected, of_rank(other, i));
        ASSERT_EQ(std::memcmp(&data[i], &expected, sizeof(T)), 0)
            << "element " << i << " of " << count << ": " << data[i] << " and not " << expected;
    }
}

TEST_P(TeamTest, ReductionsGiveTheSameBitsEverywhere) {
    const Watchdog watchdog("team reductions");
    run_jobs_as_threads(options(), [&](kumiki_job* job) {
        TestTeam team(job, GetParam().threads);
        ASSERT_EQ(team.run([&](int thread) {
            std::size_t number = 0;
            // Nothing, one element, as much as fits a slot, just more, more than there are threads, more than a board.
            for (int round = 0; round < 3; ++round)
                for (const std::size_t count : {0, 1, 2, 12, 13, 14, 15, 16, 17, 33, 1001, 20000})
                    for (const bool all : {false, true}) {
                        ++number;
                        reduce_and_compare<double>(job, team.get(), thread, count, number, all);
                        reduce_and_compare<std::int32_t>(job, team.get(), thread, count, number, all);
                        if (testing::Test::HasFatalFailure()) return;
                    }
        }),
                  KUMIKI_OK);
    });
}

TEST_P(TeamStress, ManySmallReductions) {
    const Watchdog watchdog("small team reductions");
    run_jobs_as_threads(options(), [&](kumiki_job* job) {
        TestTeam team(job, GetParam().threads);
        ASSERT_EQ(team.run([&](int thread) {
            Random random(static_cast<std::uint64_t>(thread));
            for (std::size_t number = 0; number < rounds(2000) && !testing::Test::HasFatalFailure(); ++number) {
                if (random.once_in(64)) compute_for(std::chrono::microseconds(random.between(0, 50)));
                reduce_and_compare<double>(job, team.get(), thread, 1 + number % 3, number, number % 4 == 0);
            }
        }),
                  KUMIKI_OK);
    });
}

// -- breaking --

TEST(TeamBreakTest, SiblingsAreFreedAndTheNextRunIsWhole) {
    const Watchdog watchdog("broken team");
    run_jobs_as_threads({.ranks = 1}, [](kumiki_job* job) {
        for (const int threads : {2, 3, 5}) {
            TestTeam team(job, threads);
            for (int round = 0; round < 50; ++round) {
                std::atomic<int> freed{0};
                ASSERT_EQ(team.run([&](int thread) {
                    EXPECT_EQ(kumiki_team_barrier(team.get(), thread), KUMIKI_OK);
                    double one = 1;
                    EXPECT_EQ(kumiki_team_reduce(team.get(), thread, &one, 1, KUMIKI_DOUBLE, KUMIKI_SUM), KUMIKI_OK);
                    if (thread == round % threads) {
                        if (round % 3 == 0)
                            std::this_thread::sleep_for(std::chrono::milliseconds(1)); // the others sleep by then
                        kumiki_team_break(team.get(), thread);
                        return;
                    }
                    // The other threads finish in a barrier, or after it in a reduction: the broken thread reached
                    // neither.
                    if (thread % 2 == 0)
                        expect_error(kumiki_team_barrier(team.get(), thread), KUMIKI_ERROR_STATE,
                                     {std::to_string(thread), "has left the run"});
                    expect_error(kumiki_team_reduce(team.get(), thread, &one, 1, KUMIKI_DOUBLE, KUMIKI_SUM),
                                 KUMIKI_ERROR_STATE, {"has left the run"});
                    ++freed;
                }),
                          KUMIKI_OK);
                EXPECT_EQ(freed.load(), threads - 1);
            }
        }
    });
}

// After a broken run some threads have performed more reductions than others; the sums of the next run must
// nevertheless be correct.
TEST(TeamBreakTest, ReductionsAreRightAfterABrokenRun) {
    const Watchdog watchdog("reductions after a broken run");
    run_jobs_as_threads({.ranks = 1}, [](kumiki_job* job) {
        TestTeam team(job, 3);
        for (int round = 0; round < 4; ++round) {
            ASSERT_EQ(team.run([&](int thread) {
                double one = 1;
                if (thread == 0) kumiki_team_break(team.get(), thread); // before its first reduction
                else kumiki_team_reduce(team.get(), thread, &one, 1, KUMIKI_DOUBLE, KUMIKI_SUM);
            }),
                      KUMIKI_OK);
            ASSERT_EQ(team.run([&](int thread) {
                for (int i = 1; i <= 5; ++i) {
                    double sum = i * (thread + 1);
                    EXPECT_EQ(kumiki_team_reduce(team.get(), thread, &sum, 1, KUMIKI_DOUBLE, KUMIKI_SUM), KUMIKI_OK);
                    EXPECT_EQ(sum, 6 * i) << "reduction " << i << " after broken run " << round;
                }
            }),
                      KUMIKI_OK);
        }
    });
}

TEST(PartTest, PartsCoverEverythingOnceAndDifferByAtMostOne) {
    for (const std::size_t count : {0, 1, 2, 7, 100, 1001})
        for (int parts = 1; parts <= 12; ++parts) {
            std::size_t expected_begin = 0, least = SIZE_MAX, most = 0;
            for (int index = 0; index < parts; ++index) {
                std::size_t begin = 0, end = 0;
                kumiki_part(count, parts, index, &begin, &end);
                ASSERT_EQ(begin, expected_begin);
                ASSERT_LE(begin, end);
                expected_begin = end;
                least = std::min(least, end - begin);
                most = std::max(most, end - begin);
            }
            ASSERT_EQ(expected_begin, count);
            ASSERT_LE(most - least, 1u);
        }
}

TEST(PartTest, PartsThatThereAreNotAreEmpty) {
    for (const auto& [parts, index] : {std::pair(0, 0), std::pair(-1, 0), std::pair(3, 3), std::pair(3, -1)}) {
        std::size_t begin = 7, end = 8;
        kumiki_part(10, parts, index, &begin, &end);
        EXPECT_EQ(begin, end) << index << " of " << parts;
    }
}

} // namespace
} // namespace kumiki::tests
