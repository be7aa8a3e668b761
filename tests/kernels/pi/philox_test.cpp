#include "kernels/pi/philox.hpp"

#include <gtest/gtest.h>

#include "kernels/pi/hits.hpp"

namespace kumiki::kernels::pi {
namespace {

/// The answers that the authors published with their generator.
TEST(Philox, gives_the_published_words) {
    EXPECT_EQ(Philox::words({0, 0, 0, 0}, {0, 0}), (Philox::Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    constexpr std::uint32_t ones = 0xffffffff;
    EXPECT_EQ(Philox::words({ones, ones, ones, ones}, {ones, ones}),
              (Philox::Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(Philox::words({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (Philox::Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(IsMiss, is_exact_at_the_circle) {
    EXPECT_EQ(is_miss(0, 0), 0u);
    EXPECT_EQ(is_miss(0xffffffff, 0), 0u) << "x = 1 - 2^-31, y = 2^-31";
    EXPECT_EQ(is_miss(0xffffffff, 0xffffffff), 1u);
    // x = y = sqrt(1/2) lies between these two odd multiples of 2^-31.
    EXPECT_EQ(is_miss(1518500249u << 1, 1518500249u << 1), 0u);
    EXPECT_EQ(is_miss(1518500251u << 1, 1518500251u << 1), 1u);
}

std::uint64_t count_one_by_one(std::uint64_t first, std::uint64_t trials, std::uint64_t seed) {
    std::uint64_t hits = 0;
    for (std::uint64_t trial = first; trial < first + trials; ++trial) {
        const std::uint64_t block = trial / 2;
        const auto words =
            Philox::words({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0},
                          {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
        const std::size_t x = trial % 2 * 2;
        hits += 1 - is_miss(words[x], words[x + 1]);
    }
    return hits;
}

TEST(CountHits, is_what_the_trials_give_one_by_one) {
    const std::uint64_t beyond_32_bits = (std::uint64_t{1} << 33) - 40; // the blocks' numbers pass 2^32
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{4096}, beyond_32_bits})
        for (const std::uint64_t trials : {0u, 1u, 2u, 15u, 16u, 17u, 33u, 1000u, 4095u})
            for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0x123456789abcdef}})
                EXPECT_EQ(count_hits(first, trials, seed), count_one_by_one(first, trials, seed))
                    << first << ", " << trials << ", seed " << seed;
}

TEST(CountHits, another_seed_makes_other_points) { EXPECT_NE(count_hits(0, 100'000, 1), count_hits(0, 100'000, 2)); }

} // namespace
} // namespace kumiki::kernels::pi
