#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "dsm/block_supply.hpp"

namespace kumiki::dsm {
namespace {

TEST(BlockSupplyTest, AKindIsLongEnoughAndNotMuchLonger) {
    for (std::size_t bytes = 1; bytes < (std::size_t{1} << 40); bytes += 1 + bytes / 7) {
        const std::uint32_t kind = BlockSupply::kind_of(bytes);
        ASSERT_LT(kind, BlockSupply::kinds);
        ASSERT_GE(BlockSupply::length_of(kind), bytes);
        ASSERT_LE(BlockSupply::length_of(kind), bytes + std::max(BlockSupply::smallest, bytes / 4 + 1));
        ASSERT_EQ(BlockSupply::kind_of(BlockSupply::length_of(kind)), kind);
    }
    EXPECT_GE(BlockSupply::kind_of(~std::size_t{0}), BlockSupply::kinds);
    EXPECT_GE(BlockSupply::kind_of(std::size_t{1} << 62), BlockSupply::kinds);
}

// No two blocks that are in use overlap, all are inside the memory, and nobody writes into it.
TEST(BlockSupplyTest, BlocksDoNotOverlap) {
    std::vector<std::byte> memory(1 << 20);
    BlockSupply blocks(memory, 16);
    struct Taken {
        std::byte* begin;
        std::uint32_t kind;
        std::byte* end() const { return begin + 16 + BlockSupply::length_of(kind); }
    };
    std::vector<Taken> taken;
    std::mt19937 random(7);
    for (int round = 0; round < 20000; ++round) {
        if (taken.empty() || random() % 5 < 3) {
            const std::uint32_t kind = BlockSupply::kind_of(random() % (random() % 8 == 0 ? 40000 : 300) + 1);
            const auto block = blocks.take(kind);
            if (!block) continue;
            const Taken now{block->begin, kind};
            ASSERT_GE(now.begin, memory.data());
            ASSERT_LE(now.end(), memory.data() + memory.size());
            for (const Taken& other : taken) ASSERT_TRUE(now.end() <= other.begin || other.end() <= now.begin);
            taken.push_back(now);
        } else {
            const std::size_t which = random() % taken.size();
            blocks.give(taken[which].kind, taken[which].begin);
            taken[which] = taken.back();
            taken.pop_back();
        }
    }
    for (const std::byte each : memory) ASSERT_EQ(each, std::byte{0});
}

} // namespace
} // namespace kumiki::dsm
