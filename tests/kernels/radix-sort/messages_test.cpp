#include "kernels/radix-sort/messages.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/radix-sort/keys.hpp"

namespace kumiki::kernels::radix_sort {
namespace {

/// The sizes if `keys` uniform keys are sorted over so many ranks.
MessageSizes sizes_of(std::size_t keys, std::size_t ranks) {
    std::vector<PerBucket> counts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        std::vector<Key> own(keys / ranks);
        generate(Distribution::uniform, rank * own.size(), keys, own);
        counts.push_back(count_in_buckets(own, LeadingDigit()));
    }
    return message_sizes(counts, BucketPlan(counts), 1);
}

JobReport report() { return report_of("radix_sort", {"kumiki", "hybrid", 2, 1, false}); }

TEST(MessageSizes, are_what_goes_to_the_buckets_of_another_rank) {
    std::vector<PerBucket> counts(2);
    counts[0][0] = 1024;
    counts[0][200] = 256;
    counts[1][0] = 512;
    counts[1][200] = 1280;
    const MessageSizes sizes = message_sizes(counts, BucketPlan(counts), 1);
    EXPECT_EQ(sizes, (MessageSizes{{1}, {2}})) << "256 keys of 4 bytes there, 512 back; nothing to oneself";
}

TEST(MessageSizes, are_between_ranks_of_several_workers) {
    std::vector<PerBucket> counts(4);
    for (std::size_t worker = 0; worker < 4; ++worker)
        for (std::size_t bucket = 0; bucket < 4; ++bucket) counts[worker][bucket] = 256 * (worker + 1);
    const MessageSizes sizes = message_sizes(counts, BucketPlan(counts), 2);
    EXPECT_EQ(sizes, (MessageSizes{{6}, {14}})) << "two workers' keys of the two buckets of the other rank";
}

/// The paper's 4 MB between 2 nodes and 256 KB between 8 are the bytes of all keys divided by the square of the number
/// of nodes.
TEST(MessageSizes, of_uniform_keys_shrink_with_the_square_of_the_ranks) {
    constexpr std::size_t keys = 1 << 18;
    for (const std::size_t ranks : {2, 4, 8}) {
        const std::vector<MessageSizes> sorts{sizes_of(keys, ranks)};
        const auto rows = message_rows(report(), sorts, false);
        ASSERT_EQ(rows.size(), 1u);
        const double expected = static_cast<double>(keys * sizeof(Key)) / static_cast<double>(ranks * ranks) / 1024;
        EXPECT_NEAR(rows[0].samples[0], expected, 0.03 * expected) << ranks;
        EXPECT_EQ(rows[0].metric, "radix_sort.message");
        EXPECT_EQ(rows[0].unit, "KiB");
    }
}

TEST(MessageRows, say_what_each_rank_sends_where_they_are_asked_to) {
    const std::vector<MessageSizes> sorts{{{1, 3}, {2, 2}, {4, 6}}, {{1, 3}, {2, 2}, {4, 6}}};
    const auto rows = message_rows(report(), sorts, true);
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[0].samples, (std::vector<double>{3, 3}));
    EXPECT_NE(rows[0].note.find("from 1 to 6 KiB"), std::string::npos) << rows[0].note;
    EXPECT_EQ(rows[1].metric, "radix_sort.sent");
    EXPECT_EQ(rows[1].samples, (std::vector<double>{2, 2}));
    EXPECT_EQ(std::get<std::int64_t>(rows[3].parameters.at("rank")), 2);
    EXPECT_EQ(rows[3].samples, (std::vector<double>{5, 5}));
}

TEST(MessageRows, are_none_where_nobody_sends) {
    EXPECT_TRUE(message_rows(report(), {}, true).empty());
    const std::vector<MessageSizes> alone{{{}}};
    EXPECT_TRUE(message_rows(report(), alone, true).empty());
}

} // namespace
} // namespace kumiki::kernels::radix_sort
