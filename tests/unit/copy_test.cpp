#include <gtest/gtest.h>
#include <vector>

#include "platform/copy.hpp"
#include "support/random.hpp"

namespace kumiki::platform {
namespace {

// Every alignment of both ends and every remainder of a block, with guards around the destination.
TEST(CopyAroundCachesTest, CopiesTheBytesAndNoOthers) {
    tests::Random random(1);
    std::vector<std::byte> source(10000);
    random.fill(source);
    std::vector<std::size_t> lengths;
    for (std::size_t length = 0; length < 700; length += 7) lengths.push_back(length);
    for (const std::size_t length : {255, 256, 257, 319, 320, 4096, 4097, 8191}) lengths.push_back(length);
    for (const std::size_t length : lengths)
        for (const std::size_t to : {0, 1, 8, 31, 63, 64, 65})
            for (const std::size_t from : {0, 1, 32, 63}) {
                std::vector<std::byte> destination(10000, std::byte{0x5a}), expected = destination;
                copy_around_caches(destination.data() + 128 + to, source.data() + from, length);
                std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(from), length, expected.begin() + 128 + static_cast<std::ptrdiff_t>(to));
                ASSERT_EQ(destination, expected) << length << " bytes from " << from << " to " << to;
            }
}

} // namespace
} // namespace kumiki::platform
