#include <gtest/gtest.h>
#include <vector>

#include "platform/copy.hpp"
#include "support/random.hpp"

namespace kumiki::platform {
namespace {

using Copy = void (*)(std::byte* destination, const std::byte* source, std::size_t bytes);

/// Every alignment of source and destination and every remainder of a block, with guards around the destination.
void expect_copies(Copy copy, const std::vector<std::size_t>& lengths) {
    tests::Random random(1);
    std::vector<std::byte> source(50000);
    random.fill(source);
    for (const std::size_t length : lengths)
        for (const std::size_t to : {0, 1, 8, 31, 63, 64, 65})
            for (const std::size_t from : {0, 1, 32, 63}) {
                std::vector<std::byte> destination(length + 256, std::byte{0x5a}), expected = destination;
                copy(destination.data() + 128 + to, source.data() + from, length);
                std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(from), length,
                            expected.begin() + 128 + static_cast<std::ptrdiff_t>(to));
                ASSERT_EQ(destination, expected) << length << " bytes from " << from << " to " << to;
            }
}

std::vector<std::size_t> lengths_from(std::size_t shortest, std::size_t longest, std::size_t step) {
    std::vector<std::size_t> lengths;
    for (std::size_t length = shortest; length < longest; length += step) lengths.push_back(length);
    return lengths;
}

TEST(CopyAroundCachesTest, CopiesTheBytesAndNoOthers) {
    expect_copies(copy_around_caches, lengths_from(0, 700, 7));
    expect_copies(copy_around_caches, {255, 256, 257, 319, 320, 4096, 4097, 8191, 16384, 16640, 33000, 40001});
}

TEST(CopyInCacheTest, CopiesTheBytesAndNoOthers) {
    expect_copies(copy_in_cache, lengths_from(shortest_in_cache, shortest_in_cache + 600, 13));
    expect_copies(copy_in_cache, {shortest_in_cache + 255, 4096, 4097, longest_in_cache - 1, longest_in_cache});
}

} // namespace
} // namespace kumiki::platform
