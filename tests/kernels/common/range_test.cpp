#include "kernels/common/range.hpp"

#include <gtest/gtest.h>

namespace kumiki::kernels {
namespace {

TEST(Share, covers_everything_in_order_with_sizes_that_differ_by_at_most_one) {
    for (const std::size_t count : {0u, 1u, 7u, 640u, 1801u})
        for (const std::size_t parts : {1u, 2u, 3u, 7u, 64u}) {
            std::size_t reached = 0;
            for (std::size_t i = 0; i < parts; ++i) {
                const Range part = share(count, parts, i);
                EXPECT_EQ(part.begin, reached);
                EXPECT_LE(part.size() - count / parts, 1u);
                reached = part.end;
            }
            EXPECT_EQ(reached, count);
        }
}

} // namespace
} // namespace kumiki::kernels
