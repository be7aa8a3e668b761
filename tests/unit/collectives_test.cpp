#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "support/build.hpp"
#include "support/ranks.hpp"

namespace kumiki::tests {
namespace {

using collective::Collectives;

/// Sizes that cover every path of a collective: nothing, one line, more than a line, one board, several boards.
constexpr std::size_t counts[] = {0, 1, 5, 6, 1000, 8192, 8193, 50000};

class CollectivesTest : public testing::TestWithParam<std::tuple<int, bool>> {
protected:
    JobOptions options() const { return {.ranks = std::get<0>(GetParam()), .crowded = std::get<1>(GetParam())}; }
};

INSTANTIATE_TEST_SUITE_P(Ranks, CollectivesTest, testing::Combine(testing::Values(1, 2, 3, 4, 7), testing::Bool()));

TEST_P(CollectivesTest, BarrierSeparatesPhases) {
    std::atomic<int> arrived{0};
    const int ranks = options().ranks;
    run_ranks_as_threads(options(), [&](Rank& rank) {
        for (int phase = 1; phase <= static_cast<int>(rounds(300)); ++phase) {
            arrived.fetch_add(1, std::memory_order_relaxed);
            ASSERT_TRUE(rank.collectives.barrier());
            EXPECT_GE(arrived.load(std::memory_order_relaxed), phase * ranks);
            ASSERT_TRUE(rank.collectives.barrier());
        }
    });
}

TEST_P(CollectivesTest, SplitPhaseBarrierSeparatesPhases) {
    std::atomic<int> arrived{0};
    const int ranks = options().ranks;
    run_ranks_as_threads(options(), [&](Rank& rank) {
        for (int phase = 1; phase <= static_cast<int>(rounds(300)); ++phase) {
            arrived.fetch_add(1, std::memory_order_relaxed);
            ASSERT_TRUE(rank.collectives.barrier_enter());
            ASSERT_TRUE(rank.collectives.barrier_wait());
            EXPECT_GE(arrived.load(std::memory_order_relaxed), phase * ranks);
        }
    });
}

TEST_P(CollectivesTest, ReduceGivesTheSumEverywhere) {
    run_ranks_as_threads(options(), [&](Rank& rank) {
        for (const std::size_t count : counts) {
            std::vector<double> values(count);
            for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i) + 0.5 * rank.rank();
            std::vector<double> sums(count);
            ASSERT_TRUE(rank.collectives.reduce(values.data(), sums.data(), count, KUMIKI_DOUBLE, KUMIKI_SUM,
                                                Collectives::every_rank));
            const double ranks = rank.size();
            for (std::size_t i = 0; i < count; ++i)
                ASSERT_DOUBLE_EQ(sums[i], ranks * static_cast<double>(i) + 0.5 * ranks * (ranks - 1) / 2)
                    << count << " " << i;
        }
    });
}

TEST_P(CollectivesTest, BroadcastBringsTheRootsBytes) {
    run_ranks_as_threads(options(), [&](Rank& rank) {
        auto* region = static_cast<std::uint64_t*>(rank.collectives.allocate(50000 * 8).value());
        for (int root = 0; root < rank.size(); ++root)
            for (const std::size_t count : counts)
                for (const bool in_region : {false, true}) {
                    std::vector<std::uint64_t> own(count, static_cast<std::uint64_t>(rank.rank()));
                    std::uint64_t* data = in_region ? region : own.data();
                    if (rank.rank() == root) std::iota(data, data + count, 1000u * static_cast<unsigned>(root));
                    ASSERT_TRUE(rank.collectives.broadcast(data, count * 8, root));
                    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(data[i], 1000u * static_cast<unsigned>(root) + i);
                }
        ASSERT_TRUE(rank.collectives.release(region));
    });
}

TEST_P(CollectivesTest, AllToAllTransposesPiecesOfAnySize) {
    run_ranks_as_threads(options(), [&](Rank& rank) {
        const auto ranks = static_cast<std::size_t>(rank.size());
        for (const std::size_t scale : {0, 1, 1000, tests::sanitized ? 20'000 : 100'000}) {
            // Rank a sends (a + 2 b) % 5 x scale bytes to rank b: some pieces are empty.
            const auto bytes = [&](int from, int to) { return static_cast<std::size_t>((from + 2 * to) % 5) * scale; };
            const auto byte = [](int from, int to, std::size_t i) {
                return static_cast<unsigned char>(7 * from + 13 * to + static_cast<int>(i % 251));
            };
            std::vector<std::size_t> in(ranks + 1), out(ranks + 1);
            for (std::size_t r = 0; r < ranks; ++r) {
                in[r + 1] = in[r] + bytes(rank.rank(), static_cast<int>(r));
                out[r + 1] = out[r] + bytes(static_cast<int>(r), rank.rank());
            }
            auto* region = static_cast<unsigned char*>(rank.collectives.allocate(4 * 100000 * 8).value());
            std::vector<unsigned char> own(in[ranks]), received(out[ranks]);
            for (const bool in_region : {false, true}) {
                // Only even ranks send from a region, so that both paths are mixed.
                unsigned char* data = in_region && rank.rank() % 2 == 0 ? region : own.data();
                for (std::size_t r = 0; r < ranks; ++r)
                    for (std::size_t i = 0; i < in[r + 1] - in[r]; ++i)
                        data[in[r] + i] = byte(rank.rank(), static_cast<int>(r), i);
                const auto at = [](const std::vector<std::size_t>& offsets) {
                    return Collectives::Pieces{[&](int r) {
                                                   return offsets[static_cast<std::size_t>(r) + 1] -
                                                          offsets[static_cast<std::size_t>(r)];
                                               },
                                               [&](int r) { return offsets[static_cast<std::size_t>(r)]; }};
                };
                ASSERT_TRUE(rank.collectives.all_to_all(data, at(in), received.data(), at(out)));
                for (std::size_t r = 0; r < ranks; ++r)
                    for (std::size_t i = 0; i < out[r + 1] - out[r]; ++i)
                        ASSERT_EQ(received[out[r] + i], byte(static_cast<int>(r), rank.rank(), i)) << r << " " << i;
            }
            ASSERT_TRUE(rank.collectives.release(region));
        }
    });
}

TEST_P(CollectivesTest, DifferentSizesAreAnErrorEverywhere) {
    if (options().ranks == 1) GTEST_SKIP() << "one rank cannot differ";
    run_ranks_as_threads(options(), [&](Rank& rank) {
        std::vector<double> data(20000);
        for (const std::size_t common : {std::size_t{1}, std::size_t{20}, std::size_t{10000}}) {
            const std::size_t count = common + (rank.rank() == 1 ? 1 : 0);
            const auto outcome = rank.collectives.reduce(data.data(), data.data(), count, KUMIKI_DOUBLE, KUMIKI_SUM,
                                                         Collectives::every_rank);
            ASSERT_FALSE(outcome);
            EXPECT_EQ(outcome.error().status, KUMIKI_ERROR_ARGUMENT);
            EXPECT_NE(outcome.error().message.find(std::to_string(8 * common)), std::string::npos)
                << outcome.error().message;
        }
        ASSERT_FALSE(rank.collectives.allocate(rank.rank() == 0 ? 4096 : 8192));
        double sum = 1;
        ASSERT_TRUE(rank.collectives.reduce(&sum, &sum, 1, KUMIKI_DOUBLE, KUMIKI_SUM, Collectives::every_rank));
        EXPECT_EQ(sum, rank.size()) << "the job must be usable after an error";
    });
}

} // namespace
} // namespace kumiki::tests
