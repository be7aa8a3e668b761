// Wrong calls of collectives: they cause an error at every rank, no rank is left waiting, and the job can continue.
#include <cstdlib>
#include <gtest/gtest.h>
#include <latch>
#include <limits>
#include <pthread.h>
#include <sys/resource.h>
#include <thread>

#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace kumiki::tests {
namespace {

using collective::Collectives;

class CollectiveMisuseTest : public testing::TestWithParam<std::tuple<int, bool>> {
protected:
    JobOptions options() const { return {.ranks = std::get<0>(GetParam()), .crowded = std::get<1>(GetParam())}; }
};
INSTANTIATE_TEST_SUITE_P(Ranks, CollectiveMisuseTest, testing::Combine(testing::Values(2, 3), testing::Bool()));

void expect_refused(const Result<>& outcome, kumiki_status status, const std::vector<std::string>& words) {
    ASSERT_FALSE(outcome) << "this must be an error";
    EXPECT_EQ(outcome.error().status, status);
    for (const std::string& word : words)
        EXPECT_NE(outcome.error().message.find(word), std::string::npos) << outcome.error().message;
}

/// The failure of a call whose arguments the C interface has refused.
Result<> refused_by_face() { return fail(KUMIKI_ERROR_ARGUMENT, "refused"); }

void expect_usable(Rank& rank) {
    double sum = 1;
    ASSERT_TRUE(rank.collectives.reduce(&sum, &sum, 1, KUMIKI_DOUBLE, KUMIKI_SUM, Collectives::every_rank));
    EXPECT_EQ(sum, rank.size());
    std::vector<double> sums(1000, 1.0);
    ASSERT_TRUE(rank.collectives.reduce(sums.data(), sums.data(), sums.size(), KUMIKI_DOUBLE, KUMIKI_SUM,
                                        Collectives::every_rank));
    EXPECT_EQ(sums[999], rank.size());
    void* region = rank.collectives.allocate(1).value();
    ASSERT_TRUE(rank.collectives.release(region));
    ASSERT_TRUE(rank.collectives.barrier());
}

// 40 bytes travel in one line, longer data over the boards: two ranks whose sizes are on different sides of this limit
// must nevertheless meet.
TEST_P(CollectiveMisuseTest, SizesOnBothSidesOfTheShortWay) {
    expect_no_rank_hangs(options(), [](Rank& rank) {
        std::vector<double> data(20000);
        const std::pair<std::size_t, std::size_t> sizes[] = {{5, 6}, {1, 20000}, {0, 6}};
        for (const auto& [odd, others] : sizes) {
            const std::size_t count = rank.rank() == 1 ? odd : others;
            expect_refused(rank.collectives.reduce(data.data(), data.data(), count, KUMIKI_DOUBLE, KUMIKI_SUM,
                                                   Collectives::every_rank),
                           KUMIKI_ERROR_ARGUMENT, {std::to_string(8 * odd), std::to_string(8 * others)});
        }
        expect_usable(rank);
    });
}

TEST_P(CollectiveMisuseTest, DifferentRootsTypesAndOperations) {
    expect_no_rank_hangs(options(), [](Rank& rank) {
        std::vector<double> data(1000);
        const bool odd = rank.rank() == 1;
        for (const std::size_t count : {std::size_t{2}, std::size_t{1000}}) {
            expect_refused(
                rank.collectives.reduce(data.data(), data.data(), count, KUMIKI_DOUBLE, KUMIKI_SUM, odd ? 0 : 1),
                KUMIKI_ERROR_ARGUMENT, {"reduce"});
            expect_refused(rank.collectives.reduce(data.data(), data.data(), count, odd ? KUMIKI_INT64 : KUMIKI_DOUBLE,
                                                   KUMIKI_SUM, Collectives::every_rank),
                           KUMIKI_ERROR_ARGUMENT, {"reduce"});
            expect_refused(rank.collectives.reduce(data.data(), data.data(), count, KUMIKI_DOUBLE,
                                                   odd ? KUMIKI_MIN : KUMIKI_MAX, Collectives::every_rank),
                           KUMIKI_ERROR_ARGUMENT, {"reduce"});
            expect_refused(rank.collectives.reduce(data.data(), data.data(), count, KUMIKI_DOUBLE, KUMIKI_SUM,
                                                   odd ? 0 : Collectives::every_rank),
                           KUMIKI_ERROR_ARGUMENT, {"reduce of", "all_reduce of"});
            expect_refused(rank.collectives.broadcast(data.data(), count, odd ? 0 : 1), KUMIKI_ERROR_ARGUMENT,
                           {"broadcast"});
            expect_refused(rank.collectives.broadcast(data.data(), odd ? count : count - 1, 0), KUMIKI_ERROR_ARGUMENT,
                           {"broadcast"});
        }
        expect_usable(rank);
    });
}

TEST_P(CollectiveMisuseTest, DifferentCollectives) {
    expect_no_rank_hangs(options(), [](Rank& rank) {
        std::vector<double> data(1000);
        const bool odd = rank.rank() == 1;
        for (const std::size_t count : {std::size_t{2}, std::size_t{1000}}) {
            expect_refused(odd ? rank.collectives.broadcast(data.data(), 8 * count, 0)
                               : rank.collectives.reduce(data.data(), data.data(), count, KUMIKI_DOUBLE, KUMIKI_SUM,
                                                         Collectives::every_rank),
                           KUMIKI_ERROR_ARGUMENT, {"broadcast", "reduce"});
        }
        expect_usable(rank);
    });
}

// The arguments of one rank are invalid by themselves: it must not leave the others waiting.
TEST_P(CollectiveMisuseTest, WrongArgumentsAtOneRank) {
    expect_no_rank_hangs(options(), [](Rank& rank) {
        std::vector<double> data(1000);
        double* const bad = nullptr;
        const bool odd = rank.rank() == 1;
        for (const std::size_t count : {std::size_t{2}, std::size_t{1000}}) {
            SCOPED_TRACE(count);
            ASSERT_FALSE(rank.collectives.broadcast(data.data(), count, odd ? 99 : 0));
            ASSERT_FALSE(rank.collectives.broadcast(odd ? bad : data.data(), count, 0));
            ASSERT_FALSE(
                rank.collectives.reduce(data.data(), data.data(), count, KUMIKI_DOUBLE, KUMIKI_SUM, odd ? 99 : 0));
            ASSERT_FALSE(rank.collectives.reduce(odd ? bad : data.data(), data.data(), count, KUMIKI_DOUBLE, KUMIKI_SUM,
                                                 Collectives::every_rank));
            ASSERT_FALSE(rank.collectives.reduce(data.data(), data.data(), count,
                                                 odd ? no_such<kumiki_type>(77) : KUMIKI_DOUBLE, KUMIKI_SUM,
                                                 Collectives::every_rank));
            ASSERT_FALSE(rank.collectives.reduce(data.data(), data.data(), count, KUMIKI_DOUBLE,
                                                 odd ? no_such<kumiki_operation>(77) : KUMIKI_SUM,
                                                 Collectives::every_rank));
        }
        expect_usable(rank);
    });
}

TEST_P(CollectiveMisuseTest, WrongArgumentsEverywhere) {
    expect_no_rank_hangs(options(), [](Rank& rank) {
        double value = 0;
        const std::string ranks = "ranks 0 to " + std::to_string(rank.size() - 1);
        expect_refused(rank.collectives.broadcast(&value, 8, rank.size()), KUMIKI_ERROR_ARGUMENT,
                       {"broadcast", "no rank " + std::to_string(rank.size()), ranks});
        expect_refused(rank.collectives.broadcast(&value, 8, -1), KUMIKI_ERROR_ARGUMENT, {"no rank -1", ranks});
        expect_refused(rank.collectives.broadcast(nullptr, 8, 0), KUMIKI_ERROR_ARGUMENT, {"null"});
        expect_refused(rank.collectives.reduce(&value, &value, 1, KUMIKI_DOUBLE, KUMIKI_SUM, rank.size()),
                       KUMIKI_ERROR_ARGUMENT, {"no rank", ranks});
        expect_refused(
            rank.collectives.reduce(&value, &value, 1, no_such<kumiki_type>(6), KUMIKI_SUM, Collectives::every_rank),
            KUMIKI_ERROR_ARGUMENT, {"no type 6"});
        expect_refused(rank.collectives.reduce(&value, &value, 1, KUMIKI_DOUBLE, no_such<kumiki_operation>(4),
                                               Collectives::every_rank),
                       KUMIKI_ERROR_ARGUMENT, {"no operation 4"});
        expect_refused(rank.collectives.reduce(nullptr, &value, 1, KUMIKI_DOUBLE, KUMIKI_SUM, Collectives::every_rank),
                       KUMIKI_ERROR_ARGUMENT, {"null"});
        expect_refused(rank.collectives.reduce(&value, nullptr, 1, KUMIKI_DOUBLE, KUMIKI_SUM, Collectives::every_rank),
                       KUMIKI_ERROR_ARGUMENT, {"null"});
        EXPECT_TRUE(rank.collectives.broadcast(nullptr, 0, 0)) << "nothing may be nowhere";
        EXPECT_TRUE(rank.collectives.reduce(nullptr, nullptr, 0, KUMIKI_DOUBLE, KUMIKI_SUM, Collectives::every_rank));
        EXPECT_TRUE(
            rank.collectives.reduce(&value, rank.rank() == 0 ? &value : nullptr, 1, KUMIKI_DOUBLE, KUMIKI_SUM, 0))
            << "only the root needs an output";
        expect_usable(rank);
    });
}

// More elements than there are addresses: the product must not wrap around to a small number.
TEST_P(CollectiveMisuseTest, CountsThatOverflow) {
    expect_no_rank_hangs(options(), [](Rank& rank) {
        double value = 1;
        for (const std::size_t count : {SIZE_MAX / 8 + 2, SIZE_MAX})
            expect_refused(
                rank.collectives.reduce(&value, &value, count, KUMIKI_DOUBLE, KUMIKI_SUM, Collectives::every_rank),
                KUMIKI_ERROR_ARGUMENT, {std::to_string(count)});
        expect_usable(rank);
    });
}

TEST_P(CollectiveMisuseTest, PiecesThatDoNotFit) {
    expect_no_rank_hangs(options(), [](Rank& rank) {
        std::vector<std::byte> input(4096), output(4096);
        const auto pieces = [](std::size_t bytes) {
            return Collectives::Pieces{[bytes](int) { return bytes; },
                                       [bytes](int r) { return bytes * static_cast<std::size_t>(r); }};
        };
        // Rank 0 sends 16 bytes to each rank; the others send 8, as all expect.
        const auto outcome =
            rank.collectives.all_to_all(input.data(), pieces(rank.rank() == 0 ? 16 : 8), output.data(), pieces(8));
        expect_refused(outcome, KUMIKI_ERROR_ARGUMENT, {"rank 0 sends 16 bytes", "expects 8"});
        // Only rank 1 expects something else: it names the sizes, and the others report that there was a difference.
        expect_refused(
            rank.collectives.all_to_all(input.data(), pieces(8), output.data(), pieces(rank.rank() == 1 ? 24 : 8)),
            KUMIKI_ERROR_ARGUMENT, {rank.rank() == 1 ? "expects 24" : "another rank expects"});
        expect_usable(rank);
    });
}

TEST_P(CollectiveMisuseTest, DifferentRegions) {
    expect_no_rank_hangs(options(), [](Rank& rank) {
        void* first = rank.collectives.allocate(4096).value();
        void* second = rank.collectives.allocate(4096).value();
        const auto outcome = rank.collectives.allocate(rank.rank() == 0 ? 4096 : 8192);
        ASSERT_FALSE(outcome);
        for (const char* words : {"allocate", "4096", "8192"})
            EXPECT_NE(outcome.error().message.find(words), std::string::npos) << outcome.error().message;
        expect_refused(rank.collectives.release(rank.rank() == 0 ? first : second), KUMIKI_ERROR_ARGUMENT, {"release"});
        ASSERT_TRUE(rank.collectives.release(second));
        ASSERT_TRUE(rank.collectives.release(first));
        expect_usable(rank);
    });
}

// The handlers' numbers must stay in step even after a call in which the ranks did not agree.
TEST_P(CollectiveMisuseTest, AHandlerThatOnlyOneRankRegisters) {
    expect_no_rank_hangs(options(), [](Rank& rank) {
        std::vector<std::byte> data(1000);
        if (rank.rank() == 1) {
            ASSERT_FALSE(rank.collectives.add_handler([](int, auto) {}));
        } else {
            expect_refused(rank.collectives.broadcast(data.data(), data.size(), 0), KUMIKI_ERROR_ARGUMENT,
                           {"register_handler"});
        }
        const auto number = rank.collectives.add_handler([](int, auto) {});
        ASSERT_TRUE(number) << number.error().message;
        expect_usable(rank);
    });
}

// The numbers must stay in step also when one rank cannot start the thread that runs handlers.
TEST_P(CollectiveMisuseTest, AHandlerThatOneRankCannotRegister) {
    if (sanitized) GTEST_SKIP() << "a sanitizer needs addresses of its own";
    expect_no_rank_hangs(options(), [](Rank& rank) {
        rlimit before{};
        ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
        const rlimit nothing_more{.rlim_cur = 1, .rlim_max = before.rlim_max};
        if (rank.rank() == 1) {
            // Larger than the stacks of earlier threads, which the C library keeps.
            pthread_attr_t stack;
            pthread_attr_init(&stack);
            pthread_attr_setstacksize(&stack, std::size_t{64} << 20);
            ASSERT_EQ(pthread_setattr_default_np(&stack), 0);
            pthread_attr_destroy(&stack);
            ASSERT_EQ(setrlimit(RLIMIT_AS, &nothing_more), 0);
        }
        const auto refused = rank.collectives.add_handler([](int, auto) {});
        ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
        expect_refused(refused ? Result<>() : tl::unexpected(refused.error()),
                       rank.rank() == 1 ? KUMIKI_ERROR_ENVIRONMENT : KUMIKI_ERROR_MEMORY,
                       {rank.rank() == 1 ? "cannot start the thread" : "another rank"});
        EXPECT_EQ(rank.fabric.messenger().handlers(), 0);
        const auto number = rank.collectives.add_handler([](int, auto) {});
        ASSERT_TRUE(number) << number.error().message;
        EXPECT_EQ(*number, 0);
        expect_usable(rank);
    });
}

TEST_P(CollectiveMisuseTest, AnOpenSplitPhaseBarrier) {
    const Watchdog watchdog("open split-phase barrier");
    run_ranks_as_threads(options(), [](Rank& rank) {
        double value = 1;
        ASSERT_TRUE(rank.collectives.barrier_enter());
        const std::vector<std::string> words = {"barrier_wait"};
        expect_refused(rank.collectives.barrier(), KUMIKI_ERROR_STATE, words);
        expect_refused(rank.collectives.barrier_enter(), KUMIKI_ERROR_STATE, words);
        expect_refused(rank.collectives.broadcast(&value, 8, 0), KUMIKI_ERROR_STATE, words);
        expect_refused(rank.collectives.reduce(&value, &value, 1, KUMIKI_DOUBLE, KUMIKI_SUM, Collectives::every_rank),
                       KUMIKI_ERROR_STATE, words);
        EXPECT_FALSE(rank.collectives.allocate(1));
        expect_refused(rank.collectives.refuse(refused_by_face()), KUMIKI_ERROR_STATE, words);
        ASSERT_TRUE(rank.collectives.barrier_wait());
        expect_refused(rank.collectives.barrier_wait(), KUMIKI_ERROR_STATE, {"barrier_enter"});
        expect_usable(rank);
    });
}

// Such ranks wait in different places. They detect this, and the job ends.
TEST_P(CollectiveMisuseTest, ABarrierAgainstAnotherCollective) {
    const Watchdog watchdog("barrier against another collective");
    using Call = std::function<Result<>(Collectives&)>;
    double value = 1;
    const Call barrier = &Collectives::barrier;
    const Call broadcast = [&value](Collectives& all) { return all.broadcast(&value, 8, 0); };
    const Call reduce = [](Collectives& all) {
        std::vector<double> data(100);
        return all.reduce(data.data(), data.data(), data.size(), KUMIKI_DOUBLE, KUMIKI_SUM, 0);
    };
    const Call leave = &Collectives::leave;
    const Call split_phase = [](Collectives& all) {
        auto entered = all.barrier_enter();
        return entered ? all.barrier_wait() : entered;
    };
    for (const auto& [odd, others] : {std::pair(barrier, broadcast), std::pair(reduce, barrier),
                                      std::pair(split_phase, reduce), std::pair(broadcast, leave)})
        for (const int late : {0, 1, 2}) {             // the rank that comes late; 0: none
            if (over_network() && late == 1) continue; // there the next heartbeat must come first
            run_ranks_to_failure(options(), [&](Rank& rank) {
                ASSERT_TRUE(rank.collectives.barrier());
                if (late != 0 && rank.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(50));
                const auto outcome = rank.rank() == 1 ? odd(rank.collectives) : others(rank.collectives);
                expect_refused(outcome, KUMIKI_ERROR_ARGUMENT, {"rank 1", "barrier", "another collective"});
                expect_refused(rank.collectives.broadcast(&value, 8, 0), KUMIKI_ERROR_STATE, {"no more collectives"});
                expect_refused(rank.collectives.refuse(refused_by_face()), KUMIKI_ERROR_STATE, {"no more collectives"});
            });
        }
}

// Between hosts both kinds of barrier meet at the same gate, so nothing differs, however late a rank comes.
TEST(CollectiveMisuseOverHostsTest, APlainBarrierMeetsASplitPhaseOne) {
    if (!over_network()) GTEST_SKIP() << "on one host this is a difference";
    const Watchdog watchdog("plain barrier and split-phase one");
    run_ranks_as_threads({.ranks = 4}, [](Rank& rank) {
        for (const auto late : {std::chrono::milliseconds(0), std::chrono::milliseconds(50)}) {
            if (rank.rank() == 3) std::this_thread::sleep_for(late);
            if (rank.rank() == 1) {
                ASSERT_TRUE(rank.collectives.barrier());
            } else {
                ASSERT_TRUE(rank.collectives.barrier_enter());
                ASSERT_TRUE(rank.collectives.barrier_wait());
            }
        }
        expect_usable(rank);
    });
}

// So many have no lines for each other, and all collectives meet at the boards. There a rank in a barrier must not be
// taken for one that is in the same collective as the others.
TEST(CollectiveMisuseOfManyTest, ABarrierAgainstABroadcast) {
    const Watchdog watchdog("barrier of one of many ranks");
    run_ranks_to_failure({.ranks = 66, .wait = WaitPolicy::yield, .arena_bytes = 1 << 20}, [](Rank& rank) {
        const bool odd = rank.rank() == rank.size() - 1;
        double value = 1;
        for (int turn = 0; turn < 2; ++turn) ASSERT_TRUE(rank.collectives.broadcast(&value, 8, 0));
        expect_refused(odd ? rank.collectives.barrier() : rank.collectives.broadcast(&value, 8, 0),
                       KUMIKI_ERROR_ARGUMENT, {"rank 65", "barrier", "another collective"});
        expect_refused(rank.collectives.broadcast(&value, 8, 0), KUMIKI_ERROR_STATE, {"no more collectives"});
    });
}

// The others must not wait for a rank that has entered and then leaves.
TEST(LeaveTest, AnOpenSplitPhaseBarrierHoldsNobodyBack) {
    for (const char* const checked : {"0", "1"}) { // with the check, ranks call collectives before they leave
        Processes ranks;
        start_programs(ranks, {.ranks = 2}, [checked](int rank) {
            setenv("KUMIKI_SHARED_CHECK", checked, 1);
            kumiki_job* job = nullptr;
            ASSERT_EQ(kumiki_join(&job), KUMIKI_OK);
            void* array = nullptr; // something to check
            ASSERT_EQ(kumiki_shared_allocate(job, 8192, 0, KUMIKI_HOMES_BLOCK, &array), KUMIKI_OK);
            ASSERT_EQ(kumiki_barrier_enter(job), KUMIKI_OK);
            ASSERT_EQ(rank == 0 ? kumiki_barrier_wait(job) : KUMIKI_OK, KUMIKI_OK);
            EXPECT_EQ(kumiki_leave(job), KUMIKI_OK) << kumiki_error_message();
        });
        expect_good_ends(ranks, std::chrono::seconds(10));
    }
}

// The job must remain for that thread, and for the rank to leave it later.
TEST(LeaveTest, IsRefusedWhileAnotherThreadIsInACollective) {
    const Watchdog watchdog("leaving beside a collective");
    for (const bool of_a_group : {false, true}) {
        std::latch others(1);
        run_jobs_as_threads({.ranks = 2}, [&](kumiki_job* job) {
            kumiki_group* group = kumiki_job_group(job);
            if (of_a_group) {
                ASSERT_EQ(kumiki_group_split(group, 0, 0, &group), KUMIKI_OK);
            }
            if (kumiki_rank(job) == 0) {
                std::thread first([&] { EXPECT_EQ(kumiki_group_barrier(group), KUMIKI_OK); });
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                expect_error(kumiki_leave(job), KUMIKI_ERROR_STATE, {"leave", "two threads of rank 0"});
                others.count_down();
                first.join();
            } else {
                others.wait();
                EXPECT_EQ(kumiki_group_barrier(group), KUMIKI_OK);
            }
        });
    }
}

TEST_P(CollectiveMisuseTest, TwoThreadsAtOnce) {
    const Watchdog watchdog("two threads in a collective");
    const auto plain = [](Collectives& all) { EXPECT_TRUE(all.barrier()); };
    const auto split_phase = [](Collectives& all) {
        EXPECT_TRUE(all.barrier_enter());
        EXPECT_TRUE(all.barrier_wait());
    };
    for (const std::function<void(Collectives&)>& barrier : {std::function(plain), std::function(split_phase)}) {
        std::latch others(1);
        run_ranks_as_threads(options(), [&](Rank& rank) {
            if (rank.rank() != 0) {
                others.wait();
                barrier(rank.collectives);
            } else {
                // Rank 0's first thread waits in a barrier that cannot end before the others are released.
                std::thread first([&] { barrier(rank.collectives); });
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                double value = 0;
                const std::vector<std::string> words = {"two threads of rank 0"};
                expect_refused(rank.collectives.broadcast(&value, 8, 0), KUMIKI_ERROR_STATE, words);
                expect_refused(rank.collectives.barrier(), KUMIKI_ERROR_STATE, words);
                expect_refused(rank.collectives.barrier_wait(), KUMIKI_ERROR_STATE, {});
                expect_refused(rank.collectives.refuse(refused_by_face()), KUMIKI_ERROR_STATE, words);
                others.count_down();
                first.join();
            }
            expect_usable(rank);
        });
    }
}

TEST(CollectiveMisuseFace, TheCInterfaceLeavesNobodyWaiting) {
    Processes ranks;
    start_programs(ranks, {.ranks = 2}, [](int rank) {
        kumiki_job* job = nullptr;
        ASSERT_EQ(kumiki_join(&job), KUMIKI_OK);
        double value[2] = {}, output[2] = {};
        double* const bad = nullptr;
        const bool odd = rank == 1;
        EXPECT_NE(kumiki_reduce(job, value, output, 1, KUMIKI_DOUBLE, KUMIKI_SUM, odd ? -1 : 0), KUMIKI_OK);
        EXPECT_NE(
            kumiki_reduce(job, value, output, 1, KUMIKI_DOUBLE, KUMIKI_SUM, odd ? std::numeric_limits<int>::min() : 0),
            KUMIKI_OK);
        EXPECT_NE(kumiki_all_to_all(job, odd ? bad : value, output, 8), KUMIKI_OK);
        const std::size_t bytes[2] = {8, 8}, offsets[2] = {0, 8};
        EXPECT_NE(kumiki_all_to_all_v(job, odd ? bad : value, bytes, offsets, output, bytes, offsets), KUMIKI_OK);
        EXPECT_NE(kumiki_all_to_all_v(job, value, bytes, offsets, odd ? bad : output, bytes, offsets), KUMIKI_OK);
        EXPECT_NE(kumiki_all_to_all_v(job, value, odd ? nullptr : bytes, offsets, output, bytes, offsets), KUMIKI_OK);
        EXPECT_EQ(kumiki_all_to_all(job, value, output, 8), KUMIKI_OK) << kumiki_error_message();
        EXPECT_EQ(kumiki_leave(job), KUMIKI_OK);
    });
    expect_good_ends(ranks, std::chrono::seconds(10));
}

} // namespace
} // namespace kumiki::tests
