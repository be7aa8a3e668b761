#include "kernels/common/npb_random.hpp"

#include <gtest/gtest.h>

namespace kumiki::kernels {
namespace {

// Computed with integers of any length: 5^(13 k) * 314159265 mod 2^46 for k = 1, 2, 3 and 100000.
TEST(NpbRandom, draws_the_benchmarks_numbers) {
    NpbRandom random;
    EXPECT_EQ(random() * 0x1p46, 55909509111989.0);
    EXPECT_EQ(random() * 0x1p46, 61155031930969.0);
    EXPECT_EQ(random() * 0x1p46, 45573031421645.0);
    for (int i = 4; i < 100000; ++i) random();
    EXPECT_EQ(random() * 0x1p46, 48923026192417.0);
}

TEST(NpbRandom, skips_as_if_it_drew) {
    for (const int count : {0, 1, 2, 3, 64, 1000, 99999}) {
        NpbRandom drawing, skipping;
        for (int i = 0; i < count; ++i) drawing();
        skipping.skip(static_cast<std::uint64_t>(count));
        EXPECT_EQ(skipping.next(), drawing.next()) << count;
    }
}

} // namespace
} // namespace kumiki::kernels
