#include "kernels/is/problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/common/npb_random.hpp"

namespace kumiki::kernels::is {
namespace {

std::vector<Key> all_keys(const Problem& problem) {
    std::vector<Key> keys(problem.count());
    problem.generate(0, keys);
    return keys;
}

TEST(Problem, makes_the_benchmarks_keys) {
    const Problem& problem = problems[0];
    const auto keys = all_keys(problem);
    NpbRandom random;
    for (std::size_t i = 0; i < 1000; ++i) {
        double sum = 0;
        for (int draw = 0; draw < 4; ++draw) sum += random();
        EXPECT_EQ(keys[i], static_cast<Key>(problem.largest() / 4 * sum)) << i;
    }
    EXPECT_LT(*std::ranges::max_element(keys), problem.largest());
}

TEST(Problem, makes_any_part_of_the_keys) {
    const auto keys = all_keys(problems[0]);
    for (const std::size_t first : {1u, 4096u, 40000u, 65535u}) {
        std::vector<Key> part(std::min<std::size_t>(1000, keys.size() - first));
        problems[0].generate(first, part);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), keys.begin() + static_cast<std::ptrdiff_t>(first))) << first;
    }
}

TEST(Problem, test_keys_have_their_published_ranks_after_every_iteration) {
    for (const std::size_t number : {0u, 1u}) {
        const Problem& problem = problems[number];
        auto keys = all_keys(problem);
        for (int iteration = 1; iteration <= Problem::iterations; ++iteration) {
            for (const auto& [index, key] : problem.changes(iteration)) {
                EXPECT_LT(index, Problem::changing);
                keys[index] = key;
            }
            for (const TestKey& test : problem.test_keys)
                EXPECT_EQ(std::ranges::count_if(keys, [&](Key key) { return key < keys[test.index]; }),
                          test.rank_after(iteration))
                    << problem.name << ", iteration " << iteration << ", key " << test.index;
        }
    }
}

} // namespace
} // namespace kumiki::kernels::is
