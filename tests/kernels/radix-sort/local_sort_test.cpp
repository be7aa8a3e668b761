#include "kernels/radix-sort/local_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace kumiki::kernels::radix_sort {
namespace {

class LocalSortTest : public testing::TestWithParam<Kernel> {};

TEST_P(LocalSortTest, sorts_any_number_of_any_keys) {
    if (GetParam() == Kernel::vector && !has_vector_kernel()) {
        EXPECT_THROW(LocalSort{Kernel::vector}, std::runtime_error);
        return;
    }
    LocalSort sort(GetParam()); // kept between sorts
    for (const auto distribution : all_distributions)
        for (const std::size_t count : {0, 1, 2, 255, 256, 257, 4097, 100'003, 300}) {
            std::vector<Key> keys(count);
            generate(distribution, 0, count, keys);
            auto expected = keys;
            std::ranges::sort(expected);
            sort(keys);
            EXPECT_EQ(keys, expected) << count << " keys, " << name(distribution);
        }
}

INSTANTIATE_TEST_SUITE_P(Kernels, LocalSortTest, testing::Values(Kernel::plain, Kernel::vector),
                         [](const auto& kernel) { return name(kernel.param); });

TEST(SortByDigits, sorts_keys_that_share_digits) {
    // An odd and an even number of digits that differ: the keys end in the scratch memory or in their own.
    for (const Key mask : {0x000000FFu, 0x00FF00FFu, 0x00FFFFFFu, 0xFFFFFFFFu, 0x00FF0000u}) {
        std::vector<Key> keys(5000), scratch(5000);
        generate(Distribution::uniform, 0, keys.size(), keys);
        for (Key& key : keys) key = (key & mask) | (0x11223344u & ~mask);
        auto expected = keys;
        std::ranges::sort(expected);
        sort_by_digits(keys, scratch);
        EXPECT_EQ(keys, expected) << std::hex << mask;
    }
}

} // namespace
} // namespace kumiki::kernels::radix_sort
