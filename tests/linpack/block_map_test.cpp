#include "linpack/block_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "linpack/slabs.hpp"

namespace kumiki::linpack {
namespace {

TEST(BlockMap, KnowsWhereEveryElementIs) {
    const int owners[] = {2, 0, 0, 2, 2};
    const BlockMap map(14, 3, 4, owners);
    std::vector<std::size_t> next(4, 0);
    for (std::size_t index = 0; index < map.length(); ++index) {
        const int owner = owners[index / 3];
        EXPECT_EQ(map.owner_of(index), owner);
        EXPECT_EQ(map.local_of(index), next[static_cast<std::size_t>(owner)]++);
        EXPECT_EQ(map.global_of(owner, map.local_of(index)), index);
    }
    for (int part = 0; part < 4; ++part) EXPECT_EQ(map.local_length(part), next[static_cast<std::size_t>(part)]);
    EXPECT_EQ(map.local_begin(0, 0), 0u);
    EXPECT_EQ(map.local_begin(0, 3), 6u) << "behind its last block";
    EXPECT_EQ(map.largest_local_length(), 8u);
    EXPECT_EQ(map.width(4), 2u);
}

TEST(BlockMap, OfNothing) {
    const BlockMap map = BlockMap::cyclic(0, 8, 3);
    EXPECT_EQ(map.blocks(), 0u);
    EXPECT_EQ(map.local_length(2), 0u);
    EXPECT_EQ(map.largest_local_length(), 0u);
}

TEST(WeightedOwners, OfEqualWeightsAreCyclic) {
    for (const std::size_t parts : {1u, 2u, 3u, 7u}) {
        const std::vector<int> owners = weighted_owners(40, std::vector<double>(parts, 2.5));
        for (std::size_t block = 0; block < owners.size(); ++block)
            EXPECT_EQ(owners[block], static_cast<int>(block % parts));
    }
}

TEST(WeightedOwners, ShareEveryTrailingPartInProportion) {
    for (const std::vector<double>& weights :
         {std::vector<double>{1, 0.5}, {1, 0.62}, {20, 1.5, 3}, {1, 1, 1, 0.1}, {0, 1, 2}}) {
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        const std::vector<int> owners = weighted_owners(200, weights);
        std::vector<double> count(weights.size(), 0);
        for (std::size_t behind = 1; behind <= owners.size(); ++behind) {
            count[static_cast<std::size_t>(owners[owners.size() - behind])] += 1;
            for (std::size_t part = 0; part < weights.size(); ++part)
                ASSERT_LT(std::abs(count[part] - static_cast<double>(behind) * weights[part] / sum),
                          static_cast<double>(weights.size()))
                    << "the last " << behind << " columns";
        }
        for (std::size_t part = 0; part < weights.size(); ++part)
            if (weights[part] == 0) {
                EXPECT_EQ(count[part], 0);
            }
    }
}

TEST(CutSlabs, CoverTheColumnsAndShrink) {
    for (const int threads : {1, 2, 5})
        for (const std::size_t columns : {0u, 1u, 127u, 129u, 1000u, 15000u}) {
            const std::vector<Range> slabs = cut_slabs({7, 7 + columns}, threads);
            ASSERT_LE(slabs.size(), most_slabs(columns));
            std::size_t reached = 7;
            for (std::size_t i = 0; i < slabs.size(); ++i) {
                ASSERT_EQ(slabs[i].begin, reached);
                ASSERT_LT(slabs[i].begin, slabs[i].end);
                if (i + 2 < slabs.size()) {
                    ASSERT_LE(slabs[i + 1].size(), slabs[i].size());
                }
                reached = slabs[i].end;
            }
            ASSERT_EQ(reached, 7 + columns);
            EXPECT_LE(slabs.size(), threads == 1 ? 1 : columns);
            EXPECT_GE(slabs.size(), threads == 2 && columns == 15000u ? 5 : 0);
        }
}

} // namespace
} // namespace kumiki::linpack
