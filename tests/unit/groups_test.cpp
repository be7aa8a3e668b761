// Groups through the C and C++ interfaces: their members, their limits, and the errors when they are used wrongly.
#include <array>
#include <gtest/gtest.h>
#include <latch>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "kumiki/kumiki.hpp"
#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace kumiki::tests {
namespace {

constexpr int most_groups = 64; // besides the job, so one less

class GroupsTest : public testing::TestWithParam<int> {
protected:
    void run(const std::function<void(kumiki_job*)>& body) const {
        const Watchdog watchdog("groups");
        run_jobs_as_threads({.ranks = GetParam()}, body);
    }
};
INSTANTIATE_TEST_SUITE_P(Ranks, GroupsTest, testing::Values(1, 2, 4));

int sum_of_ranks(kumiki_group* group, int value) {
    std::int32_t sum = value;
    EXPECT_EQ(kumiki_group_all_reduce(group, &sum, &sum, 1, KUMIKI_INT32, KUMIKI_SUM), KUMIKI_OK)
        << kumiki_error_message();
    return sum;
}

TEST_P(GroupsTest, TheJobIsTheFirstGroup) {
    run([](kumiki_job* job) {
        kumiki_group* all = kumiki_job_group(job);
        EXPECT_EQ(kumiki_group_rank(all), kumiki_rank(job));
        EXPECT_EQ(kumiki_group_size(all), kumiki_size(job));
        EXPECT_EQ(kumiki_group_rank_in_job(all, 0), 0);
        EXPECT_EQ(kumiki_group_rank_in_job(all, kumiki_size(job)), -1);
        EXPECT_EQ(kumiki_group_rank_of(all, -1), -1);
        EXPECT_EQ(sum_of_ranks(all, 1), kumiki_size(job));
        expect_error(kumiki_group_free(&all), KUMIKI_ERROR_ARGUMENT, {"group_free", "job's own"});
        EXPECT_EQ(kumiki_barrier(job), KUMIKI_OK);
    });
}

TEST_P(GroupsTest, KeysTurnTheOrderAround) {
    run([](kumiki_job* job) {
        const int rank = kumiki_rank(job), size = kumiki_size(job);
        kumiki_group* turned = nullptr;
        ASSERT_EQ(kumiki_group_split(kumiki_job_group(job), 0, -rank, &turned), KUMIKI_OK);
        EXPECT_EQ(kumiki_group_rank(turned), size - 1 - rank);
        EXPECT_EQ(kumiki_group_rank_in_job(turned, 0), size - 1);
        EXPECT_EQ(kumiki_group_rank_of(turned, 0), size - 1);
        std::int32_t upto = rank; // in the group's order: the sum over this rank and those before it
        ASSERT_EQ(kumiki_group_scan(turned, &upto, &upto, 1, KUMIKI_INT32, KUMIKI_SUM), KUMIKI_OK);
        EXPECT_EQ(upto, (size - 1) * size / 2 - rank * (rank - 1) / 2);
        ASSERT_EQ(kumiki_group_free(&turned), KUMIKI_OK);
        EXPECT_EQ(turned, nullptr);
        EXPECT_EQ(kumiki_group_free(&turned), KUMIKI_OK) << "null is no error";
    });
}

TEST_P(GroupsTest, ANegativeColourIsNoGroup) {
    run([](kumiki_job* job) {
        const bool odd = kumiki_rank(job) % 2 == 1;
        kumiki_group* evens = nullptr;
        ASSERT_EQ(kumiki_group_split(kumiki_job_group(job), odd ? -1 : 3, 0, &evens), KUMIKI_OK);
        EXPECT_EQ(evens == nullptr, odd);
        if (odd) {
            EXPECT_EQ(kumiki_group_rank(evens), -1);
            EXPECT_EQ(kumiki_group_size(evens), -1);
            expect_error(kumiki_group_barrier(evens), KUMIKI_ERROR_ARGUMENT, {"barrier", "null", "in no such group"});
            expect_error(kumiki_group_split(evens, 0, 0, &evens), KUMIKI_ERROR_ARGUMENT, {"split", "null"});
        } else {
            EXPECT_EQ(sum_of_ranks(evens, 1), (kumiki_size(job) + 1) / 2);
        }
        EXPECT_EQ(kumiki_group_free(&evens), KUMIKI_OK);
        expect_error(kumiki_group_barrier(evens), KUMIKI_ERROR_ARGUMENT, {"it was freed"});
    });
}

TEST_P(GroupsTest, GroupsOfOneAndGroupsOfGroups) {
    run([](kumiki_job* job) {
        kumiki_group *alone = nullptr, *again = nullptr;
        ASSERT_EQ(kumiki_group_split(kumiki_job_group(job), kumiki_rank(job), 0, &alone), KUMIKI_OK);
        EXPECT_EQ(kumiki_group_size(alone), 1);
        EXPECT_EQ(sum_of_ranks(alone, 7), 7);
        ASSERT_EQ(kumiki_group_barrier(alone), KUMIKI_OK);
        const int zero = 0;
        ASSERT_EQ(kumiki_group_create(alone, &zero, 1, &again), KUMIKI_OK);
        EXPECT_EQ(kumiki_group_rank_in_job(again, 0), kumiki_rank(job));
        kumiki_group_free(&alone);
        EXPECT_EQ(sum_of_ranks(again, 8), 8) << "it does not need the group that it was made from";
        // kumiki_leave must free `again`.
    });
}

// All of them tell all ranks something of the same length.
TEST_P(GroupsTest, WaysOfMakingGroupsThatDiffer) {
    if (GetParam() == 1) GTEST_SKIP() << "one rank cannot differ";
    run([](kumiki_job* job) {
        const int rank = kumiki_rank(job), size = kumiki_size(job);
        kumiki_group *const all = kumiki_job_group(job), *made = nullptr;
        std::vector<int> ranks(static_cast<std::size_t>(size));
        std::iota(ranks.begin(), ranks.end(), 0);
        expect_error(rank == 0 ? kumiki_group_split(all, 0, 0, &made)
                               : kumiki_group_create(all, ranks.data(), ranks.size(), &made),
                     KUMIKI_ERROR_ARGUMENT, {"group_split", "group_create"});
        std::array<std::byte, 32> own{};
        std::vector<std::byte> gathered(own.size() * ranks.size());
        expect_error(rank == 0 ? kumiki_group_split(all, 0, 0, &made)
                               : kumiki_group_all_gather(all, own.data(), own.size(), gathered.data()),
                     KUMIKI_ERROR_ARGUMENT, {"group_split", "all_gather"});
        EXPECT_EQ(made, nullptr);
        EXPECT_EQ(sum_of_ranks(all, 1), size);
    });
}

// Every defect of a list is an error at every rank, and the group that should be split can continue.
TEST_P(GroupsTest, WrongLists) {
    run([](kumiki_job* job) {
        const int rank = kumiki_rank(job), size = kumiki_size(job);
        kumiki_group* const all = kumiki_job_group(job);
        kumiki_group* made = nullptr;
        const auto refused = [&](const std::vector<int>& list, const std::vector<std::string>& words) {
            expect_error(kumiki_group_create(all, list.data(), list.size(), &made), KUMIKI_ERROR_ARGUMENT, words);
            EXPECT_EQ(made, nullptr);
        };
        refused({0, size}, {"no rank " + std::to_string(size), "the job has ranks 0 to"});
        refused({-1}, {"no rank -1"});
        refused({0, 0}, {"rank 0 is in the list twice"});
        expect_error(kumiki_group_create(all, nullptr, 2, &made), KUMIKI_ERROR_ARGUMENT, {"list is null"});
        expect_error(kumiki_group_create(all, nullptr, 0, nullptr), KUMIKI_ERROR_ARGUMENT, {"address", "null"});
        EXPECT_EQ(kumiki_group_create(all, nullptr, 0, &made), KUMIKI_OK) << "of nobody";
        EXPECT_EQ(made, nullptr);
        if (size > 1) {
            // Rank 1 does not take part, or passes another order.
            refused(rank == 1 ? std::vector{1} : std::vector{0, 1}, {"not all of these give the same list"});
            refused(rank == 1 ? std::vector{1, 0} : std::vector{0, 1}, {"not all of these give the same list"});
            // The list of one rank is invalid by itself.
            refused(rank == 1 ? std::vector{1, 1} : std::vector{0, 1},
                    rank == 1 ? std::vector<std::string>{"twice"} : std::vector<std::string>{"rank 1", "refused"});
            // The list names other ranks, which form the group without this rank.
            ASSERT_EQ(kumiki_group_create(all, std::vector{1}.data(), 1, &made), KUMIKI_OK);
            EXPECT_EQ(made != nullptr, rank == 1);
            kumiki_group_free(&made);
        }
        EXPECT_EQ(sum_of_ranks(all, 1), size);
    });
}

TEST_P(GroupsTest, NoMoreThanThereArePlaces) {
    run([](kumiki_job* job) {
        kumiki_group* const all = kumiki_job_group(job);
        std::vector<kumiki_group*> many(most_groups - 1);
        for (kumiki_group*& one : many) ASSERT_EQ(kumiki_group_split(all, 0, 0, &one), KUMIKI_OK);
        kumiki_group* made = nullptr;
        expect_error(kumiki_group_split(all, 0, 0, &made), KUMIKI_ERROR_STATE, {"64 groups", "rank 0", "free"});
        EXPECT_EQ(made, nullptr);
        // Rank 0 has room again, but the others do not, so still no rank gets the group.
        const bool first = kumiki_rank(job) == 0;
        if (first) kumiki_group_free(&many[5]);
        if (kumiki_size(job) > 1) {
            EXPECT_EQ(kumiki_group_split(all, 0, 0, &made), KUMIKI_ERROR_STATE);
        }
        if (!first) kumiki_group_free(&many[5]);
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        ASSERT_EQ(kumiki_group_split(all, 0, 0, &made), KUMIKI_OK) << kumiki_error_message();
        EXPECT_EQ(sum_of_ranks(made, 1), kumiki_size(job));
        EXPECT_EQ(sum_of_ranks(many[40], 1), kumiki_size(job));
        kumiki_group_free(&made);
        for (kumiki_group*& one : many) EXPECT_EQ(kumiki_group_free(&one), KUMIKI_OK);
    });
}

// A place is used again by other ranks, whose counters begin anew.
TEST_P(GroupsTest, PlacesAreUsedAgain) {
    run([](kumiki_job* job) {
        for (int round = 0; round < static_cast<int>(rounds(300)); ++round) {
            kumiki_group* made = nullptr;
            const int colour = (kumiki_rank(job) + round) % 3 == 0 ? 1 : 0;
            ASSERT_EQ(kumiki_group_split(kumiki_job_group(job), colour, 0, &made), KUMIKI_OK) << kumiki_error_message();
            EXPECT_EQ(sum_of_ranks(made, 1), kumiki_group_size(made));
            ASSERT_EQ(kumiki_group_barrier(made), KUMIKI_OK);
            std::vector<double> sums(100 * static_cast<std::size_t>(round % 3), 1);
            ASSERT_EQ(kumiki_group_all_reduce(made, sums.data(), sums.data(), sums.size(), KUMIKI_DOUBLE, KUMIKI_SUM),
                      KUMIKI_OK);
            kumiki_group_free(&made);
        }
    });
}

// A group whose ranks are in different collectives can perform no more; the job and other groups are not affected.
TEST_P(GroupsTest, DifferentCollectivesInOneGroup) {
    if (GetParam() == 1) GTEST_SKIP() << "one rank cannot differ";
    run([](kumiki_job* job) {
        kumiki_group *broken = nullptr, *whole = nullptr;
        const int rank = kumiki_rank(job), size = kumiki_size(job);
        ASSERT_EQ(kumiki_group_split(kumiki_job_group(job), 0, -rank, &broken), KUMIKI_OK);
        ASSERT_EQ(kumiki_group_split(kumiki_job_group(job), 0, 0, &whole), KUMIKI_OK);
        const int odd = kumiki_group_rank_of(broken, 0);
        double value = 1;
        expect_error(
            rank == 0 ? kumiki_group_broadcast(broken, &value, 8, 0) : kumiki_group_barrier(broken),
            KUMIKI_ERROR_ARGUMENT,
            {"barrier", "another collective", "rank " + std::to_string(odd) + " of the group (rank 0 of the job)"});
        expect_error(kumiki_group_barrier(broken), KUMIKI_ERROR_STATE, {"no more collectives in this group"});
        EXPECT_EQ(sum_of_ranks(whole, 1), size);
        EXPECT_EQ(sum_of_ranks(kumiki_job_group(job), 1), size);
        expect_error(kumiki_group_broadcast(whole, &value, 8, size), KUMIKI_ERROR_ARGUMENT,
                     {"no rank", "the group has ranks 0 to"});
        kumiki_group_free(&broken);
        kumiki_group_free(&whole);
    });
}

TEST_P(GroupsTest, TwoThreadsInOneGroup) {
    if (GetParam() == 1) GTEST_SKIP() << "alone nobody waits";
    std::latch others(1);
    run([&](kumiki_job* job) {
        kumiki_group* group = nullptr;
        ASSERT_EQ(kumiki_group_split(kumiki_job_group(job), 0, 0, &group), KUMIKI_OK);
        if (kumiki_rank(job) != 0) {
            others.wait();
            ASSERT_EQ(kumiki_group_barrier(group), KUMIKI_OK);
        } else {
            std::thread first([&] { EXPECT_EQ(kumiki_group_barrier(group), KUMIKI_OK); });
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            expect_error(kumiki_group_barrier(group), KUMIKI_ERROR_STATE, {"two threads", "of the group"});
            others.count_down();
            first.join();
        }
        EXPECT_EQ(sum_of_ranks(group, 1), kumiki_size(job));
    });
}

// An error that only one rank can detect is an error at all ranks, and none waits.
TEST_P(GroupsTest, WrongPieces) {
    run([](kumiki_job* job) {
        kumiki_group* const all = kumiki_job_group(job);
        const int rank = kumiki_rank(job), size = kumiki_size(job);
        const bool odd = rank == size - 1;
        const auto ranks = static_cast<std::size_t>(size);
        std::vector<std::byte> input(ranks * 64), output(ranks * 64);
        std::vector<std::size_t> bytes(ranks, 16), offsets(ranks);
        for (std::size_t r = 0; r < ranks; ++r) offsets[r] = 16 * r;
        EXPECT_NE(kumiki_group_all_gather(all, odd ? nullptr : input.data(), 16, output.data()), KUMIKI_OK);
        EXPECT_NE(
            kumiki_group_all_gather_v(all, input.data(), odd ? 8 : 16, output.data(), bytes.data(), offsets.data()),
            KUMIKI_OK);
        EXPECT_NE(kumiki_group_all_gather_v(all, input.data(), 16, output.data(), nullptr, nullptr), KUMIKI_OK);
        expect_error(
            kumiki_group_gather_v(all, input.data(), odd ? 8 : 16, output.data(), bytes.data(), offsets.data(), 0),
            KUMIKI_ERROR_ARGUMENT, {"gather", odd ? "sends 8 bytes to rank 0, which expects 16" : "another rank"});
        expect_error(
            kumiki_group_scatter_v(all, input.data(), bytes.data(), offsets.data(), output.data(), odd ? 24 : 16, 0),
            KUMIKI_ERROR_ARGUMENT, {"scatter", odd ? "which expects 24" : "another rank"});
        expect_error(kumiki_group_gather(all, input.data(), 16, output.data(), size), KUMIKI_ERROR_ARGUMENT,
                     {"gather: there is no rank " + std::to_string(size)});
        expect_error(kumiki_group_scatter(all, input.data(), output.data(), 16, -1), KUMIKI_ERROR_ARGUMENT,
                     {"scatter: there is no rank -1"});
        expect_error(kumiki_group_scan(all, input.data(), output.data(), SIZE_MAX / 4, KUMIKI_DOUBLE, KUMIKI_SUM),
                     KUMIKI_ERROR_ARGUMENT, {"scan", "more than there are addresses"});
        expect_error(
            kumiki_group_reduce_scatter(all, input.data(), output.data(), SIZE_MAX / 2, KUMIKI_INT32, KUMIKI_SUM),
            KUMIKI_ERROR_ARGUMENT, {"reduce_scatter", "more than there are addresses"});
        expect_error(kumiki_group_reduce_scatter_v(all, input.data(), output.data(), nullptr, KUMIKI_INT32, KUMIKI_SUM),
                     KUMIKI_ERROR_ARGUMENT, {"table"});
        if (size > 1) { // differences between ranks
            EXPECT_NE(kumiki_group_all_gather(all, input.data(), odd ? 8 : 16, output.data()), KUMIKI_OK);
            EXPECT_NE(kumiki_group_gather(all, input.data(), odd ? 8 : 16, output.data(), 0), KUMIKI_OK);
            // Over hosts these two ranks are on different ones, and only they know.
            std::vector<std::size_t> sent = bytes;
            if (rank == 0) sent.back() = 8;
            expect_error(kumiki_group_all_to_all_v(all, input.data(), sent.data(), offsets.data(), output.data(),
                                                   bytes.data(), offsets.data()),
                         KUMIKI_ERROR_ARGUMENT,
                         {"all_to_all: ", odd ? "rank 0 sends 8 bytes" : "that another rank expects"});
            EXPECT_NE(kumiki_group_scatter(all, input.data(), output.data(), 16, odd ? 1 : 0), KUMIKI_OK);
            EXPECT_NE(kumiki_group_scan(all, input.data(), output.data(), odd ? 1 : 2, KUMIKI_INT32, KUMIKI_SUM),
                      KUMIKI_OK);
            const std::vector<std::size_t> counts =
                odd ? std::vector<std::size_t>(ranks, 2) : std::vector<std::size_t>(ranks, 1);
            EXPECT_NE(kumiki_group_reduce_scatter_v(all, input.data(), output.data(), counts.data(), KUMIKI_INT32,
                                                    KUMIKI_SUM),
                      KUMIKI_OK);
        }
        EXPECT_EQ(sum_of_ranks(all, 1), size);
    });
}

// The C++ interface, each rank a process.
TEST(GroupsFaceTest, RowsAndColumns) {
    run_programs({.ranks = 4}, [](int rank) {
        Job job;
        auto row = job.split(rank / 2), column = job.split(rank % 2);
        ASSERT_TRUE(row && column);
        EXPECT_EQ(row->all_gather(rank), (std::vector{rank / 2 * 2, rank / 2 * 2 + 1}));
        EXPECT_EQ(column->all_gather(rank), (std::vector{rank % 2, rank % 2 + 2}));
        EXPECT_EQ(column->rank_in_job(1), rank % 2 + 2);
        EXPECT_EQ(column->rank_of(rank), rank / 2);
        const std::vector corners{3, 0};
        auto some = job.subgroup(corners);
        EXPECT_EQ(some.has_value(), rank % 3 == 0);
        if (some) {
            EXPECT_EQ(some->gather(rank, 0), rank == 3 ? corners : std::vector<int>{});
        }
        EXPECT_EQ(job.scan(1, Operation::sum), rank + 1);
        std::vector<double> mine(1), all{1, 2, 3, 4};
        job.reduce_scatter(all, mine, Operation::sum);
        EXPECT_EQ(mine[0], 4 * (rank + 1));
        job.scatter(rank == 2 ? all : std::vector<double>{}, mine, 2);
        EXPECT_EQ(mine[0], rank + 1);
        const std::vector<std::size_t> counts{0, 1, 2, 1};
        std::vector<double> piece(counts[static_cast<std::size_t>(rank)]);
        job.scatter_v(all, counts, piece, 0);
        job.reduce_scatter_v(all, counts, piece, Operation::max);
        std::vector<double> back(4), again(4);
        job.all_gather_v(piece, back, counts);
        job.gather_v(piece, again, counts, 3);
        EXPECT_EQ(back, all);
        EXPECT_EQ(again, rank == 3 ? all : std::vector<double>(4));
        EXPECT_THROW(job.all_gather(all, back), Error);
        EXPECT_THROW(job.scatter_v(all, std::span(counts).first(3), piece, rank), Error);
        Group moved = std::move(*row);
        EXPECT_EQ(row->size(), -1);
        EXPECT_THROW(row->barrier(), Error);
        moved.barrier();
    });
}

} // namespace
} // namespace kumiki::tests
