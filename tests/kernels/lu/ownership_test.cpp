#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kernels/lu/problem.hpp"

namespace kumiki::kernels::lu {
namespace {

TEST(Problem, goes_on_as_the_identity_beyond_the_matrix) {
    const Problem problem{20, 8};
    EXPECT_EQ(problem.blocks(), 3u);
    EXPECT_EQ(problem.element(19, 19), 20.0);
    EXPECT_EQ(problem.element(20, 20), 1.0);
    EXPECT_EQ(problem.element(5, 22), 0.0);
    EXPECT_NE(problem.element(5, 6), problem.element(6, 5));
}

TEST(Ownership, deals_blocks_in_both_directions) {
    const Ownership ownership(Problem{80, 8}, 6); // 3 x 2
    EXPECT_EQ(ownership.owner(0, 0), 0);
    EXPECT_EQ(ownership.owner(0, 1), 1);
    EXPECT_EQ(ownership.owner(0, 2), 0);
    EXPECT_EQ(ownership.owner(1, 0), 2);
    EXPECT_EQ(ownership.owner(5, 3), 5);
    EXPECT_EQ(ownership.owner(ownership.number(5, 3)), 5);
}

/// The workers to which the plan brings each block, and the round after which they have it.
std::map<std::pair<std::size_t, int>, std::size_t> deliveries(const BlockPlan& plan) {
    std::map<std::pair<std::size_t, int>, std::size_t> made;
    for (std::size_t round = 0; round < plan.rounds.size(); ++round)
        for (const FinalBlock& each : plan.rounds[round])
            for (const int reader : each.readers) made[{each.block, reader}] = round;
    return made;
}

TEST(Ownership, every_block_that_a_worker_uses_has_been_delivered_to_it_and_no_other) {
    const Problem problem{40, 8};
    for (const int workers : {1, 2, 3, 4, 6, 8, 30}) {
        const Ownership ownership(problem, workers);
        auto left = deliveries(ownership.plan(problem.block_length()));
        std::set<std::pair<std::size_t, int>> used;
        const auto use = [&](std::size_t i, std::size_t j, int by, std::size_t round) {
            const std::pair key{ownership.number(i, j), by};
            ASSERT_TRUE(left.contains(key)) << workers << " workers, block " << i << ", " << j << ", worker " << by;
            EXPECT_LE(left[key], round);
            used.insert(key);
        };
        for (std::size_t k = 0; k < 5; ++k)
            for (std::size_t i = k + 1; i < 5; ++i) {
                use(k, k, ownership.owner(i, k), 2 * k);
                use(k, k, ownership.owner(k, i), 2 * k);
                for (std::size_t j = k + 1; j < 5; ++j) {
                    use(i, k, ownership.owner(i, j), 2 * k + 1);
                    use(k, j, ownership.owner(i, j), 2 * k + 1);
                }
            }
        EXPECT_EQ(used.size(), left.size()) << workers << " workers: some deliveries are of no use";
    }
}

TEST(BlockRoutes, bring_a_block_once_to_each_process_that_needs_it) {
    const BlockPlan plan{4, 1, [](std::size_t block) { return static_cast<int>(block); }, {{{0, {1, 2, 3}}, {3, {0}}}}};
    const BlockRoutes first(plan, 0, 2), second(plan, 1, 2); // workers 0 and 1, 2 and 3
    ASSERT_EQ(first.outgoing(0, 0).size(), 1u);
    EXPECT_EQ(first.outgoing(0, 0)[0].processes, std::vector{1});
    EXPECT_TRUE(first.outgoing(0, 1).empty());
    ASSERT_EQ(first.incoming(0).size(), 1u);
    EXPECT_EQ(first.incoming(0)[0].block, 3u);
    EXPECT_EQ(first.incoming(0)[0].process, 1);
    ASSERT_EQ(second.outgoing(0, 1).size(), 1u);
    EXPECT_EQ(second.outgoing(0, 1)[0].number, first.incoming(0)[0].number);
    ASSERT_EQ(second.incoming(0).size(), 1u);
    EXPECT_EQ(second.incoming(0)[0].number, first.outgoing(0, 0)[0].number);
}

} // namespace
} // namespace kumiki::kernels::lu
