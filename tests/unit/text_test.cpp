#include "text/text.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace kumiki::text {
namespace {

using Parts = std::vector<std::string_view>;

TEST(TextTest, APartMayBeEmpty) {
    EXPECT_EQ(split("a", ','), Parts({"a"}));
    EXPECT_EQ(split("", ','), Parts({""}));
    EXPECT_EQ(split("a,bc,,d,", ','), Parts({"a", "bc", "", "d", ""}));
}

TEST(TextTest, ANumberIsTheWholeText) {
    EXPECT_EQ(number<int>("-17"), -17);
    EXPECT_EQ(number<std::uint64_t>("ff", 16), 255u);
    EXPECT_EQ(number<double>("2.5"), 2.5);
    for (const std::string_view text : {"", " 1", "1 ", "+1", "1,", "one", "2147483648"})
        EXPECT_EQ(number<int>(text), std::nullopt) << "'" << text << "'";
    EXPECT_EQ(number<std::uint64_t>("-1"), std::nullopt);
    EXPECT_EQ(number<int>(std::string_view()), std::nullopt);
}

} // namespace
} // namespace kumiki::text
