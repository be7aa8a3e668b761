#include <algorithm>
#include <atomic>
#include <barrier>
#include <gtest/gtest.h>
#include <random>
#include <rapidcheck/gtest.h>
#include <thread>
#include <vector>

#include "dsm/difference.hpp"
#include "dsm/homes.hpp"

namespace kumiki::dsm {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count, std::mt19937& random) {
    Bytes bytes(count);
    for (std::byte& each : bytes) each = static_cast<std::byte>(random());
    return bytes;
}

/// A page of which about one byte in `one_in` has changed.
Bytes change(Bytes page, unsigned one_in, std::mt19937& random) {
    for (std::byte& each : page)
        if (random() % one_in == 0) each ^= static_cast<std::byte>(1 + random() % 255);
    return page;
}

/// All ways of copying that this processor has.
std::vector<LineCopies> all_copies() {
    std::vector<LineCopies> all = {run_copies};
    if (const LineCopies* const vector = vector_copies()) all.push_back(*vector);
    return all;
}

TEST(DifferenceTest, EqualPagesHaveNone) {
    const Bytes page(4096, std::byte{7});
    Bytes packed;
    EXPECT_EQ(pack_difference(page, page, packed), 0u);
    EXPECT_TRUE(packed.empty());
}

// Two hosts write alternate bytes of the same page: both differences, in either order, must survive.
TEST(DifferenceTest, WritersOfNeighbouringBytesDoNotMeet) {
    const Bytes twin(4096, std::byte{0});
    Bytes even = twin, odd = twin, both = twin, home = twin;
    for (std::size_t at = 0; at < twin.size(); ++at) (at % 2 == 0 ? even : odd)[at] = both[at] = std::byte{0xff};
    Bytes packed;
    EXPECT_EQ(pack_difference(even, twin, packed), 2048u);
    ASSERT_TRUE(apply_difference(packed, home));
    EXPECT_EQ(copy_difference(odd, twin, home), 2048u);
    EXPECT_EQ(home, both);
}

// Every bit of every byte counts: a difference of one bit is a difference of one byte.
TEST(DifferenceTest, OneBitIsFoundWhereverItIs) {
    for (std::size_t bit = 0; bit < 2 * difference_line * 8; ++bit) {
        const Bytes twin(4 * difference_line, std::byte{0x5a});
        Bytes page = twin;
        page[difference_line + bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        for (const LineCopies& copies : all_copies()) {
            Bytes home = twin, packed;
            ASSERT_EQ(pack_difference(page, twin, packed, copies), 1u);
            ASSERT_TRUE(apply_difference(packed, home, copies));
            ASSERT_EQ(home, page);
        }
    }
}

RC_GTEST_PROP(DifferenceTest, WritesTheBytesThatDifferAndNoOthers, ()) {
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    const std::size_t length = std::size_t{4096} << *rc::gen::inRange(0, 5);
    const unsigned one_in = *rc::gen::element(1u, 2u, 9u, 100u, 5000u);
    const Bytes twin = random_bytes(length, random), page = change(twin, one_in, random);
    const Bytes before = random_bytes(length, random); // what the home has meanwhile
    Bytes expected = before;
    std::size_t differing = 0;
    for (std::size_t at = 0; at < length; ++at)
        if (page[at] != twin[at]) {
            expected[at] = page[at];
            ++differing;
        }
    for (const LineCopies& copies : all_copies()) {
        Bytes packed;
        RC_ASSERT(pack_difference(page, twin, packed, copies) == differing);
        RC_ASSERT(packed.size() <= longest_difference(length));
        Bytes home = before;
        RC_ASSERT(apply_difference(packed, home, copies));
        RC_ASSERT(home == expected);
    }
    Bytes home = before;
    RC_ASSERT(copy_difference(page, twin, home) == differing);
    RC_ASSERT(home == expected);
}

// The owner of a page writes its bytes while another rank's difference for the same bytes is merged: afterwards page
// and twin differ, or the byte is noted.
TEST(DifferenceTest, NoWriteOfTheOwnerIsLostBesideAMerge) {
    constexpr std::size_t length = 4096;
    const Bytes zeros(length), theirs(length, std::byte{2});
    Bytes packed;
    ASSERT_EQ(pack_difference(theirs, zeros, packed), length);
    for (int round = 0; round < 2000; ++round) {
        Bytes page = zeros, twin = zeros;
        std::vector<std::uint64_t> both(length / 64);
        std::barrier start(2);
        std::jthread owner([&] {
            start.arrive_and_wait();
            for (std::byte& each : page) std::atomic_ref(each).store(std::byte{1}, std::memory_order_relaxed);
        });
        start.arrive_and_wait();
        ASSERT_TRUE(merge_difference(packed, page, twin, both));
        owner.join();
        for (std::size_t at = 0; at < length; ++at)
            ASSERT_TRUE(page[at] != twin[at] || (both[at / 64] >> at % 64 & 1) != 0) << "byte " << at;
    }
}

// Another rank's bytes of a line may be written while a difference is stored beside them.
TEST(DifferenceTest, WritesOfNeighbouringBytesSurvive) {
    constexpr std::size_t length = difference_line;
    Bytes twin(length), even = twin;
    for (std::size_t at = 0; at < length; at += 2) even[at] = std::byte{1};
    for (const LineCopies& copies : all_copies()) {
        Bytes packed, page = twin;
        ASSERT_EQ(pack_difference(even, twin, packed, copies), length / 2);
        std::atomic<bool> ends = false;
        std::atomic<std::size_t> stored = 0;
        std::jthread stores([&] {
            for (; !ends; ++stored) ASSERT_TRUE(apply_difference(packed, page, copies));
        });
        std::size_t lost = 0;
        for (unsigned value = 0; stored < 200'000; ++value) {
            for (std::size_t at = 1; at < length; at += 2)
                std::atomic_ref(page[at]).store(static_cast<std::byte>(value), std::memory_order_relaxed);
            std::atomic_thread_fence(
                std::memory_order_seq_cst); // else a load may find what has not left this processor
            for (std::size_t at = 1; at < length; at += 2)
                lost += std::atomic_ref(page[at]).load(std::memory_order_relaxed) != static_cast<std::byte>(value);
        }
        ends = true;
        EXPECT_EQ(lost, 0U);
    }
}

// What arrives over the network is not trusted.
RC_GTEST_PROP(DifferenceTest, RubbishIsRefusedOrStaysInsideThePage, ()) {
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    const Bytes rubbish = random_bytes(random() % 300, random);
    Bytes page(4096 + 64, std::byte{0});
    for (const LineCopies& copies : all_copies())
        static_cast<void>(apply_difference(rubbish, std::span(page).first(4096), copies));
    RC_ASSERT(std::all_of(page.begin() + 4096, page.end(), [](std::byte each) { return each == std::byte{0}; }));
    RC_ASSERT(!apply_difference(std::vector<std::byte>(9), std::span(page).first(4096)));
}

TEST(HomesTest, BlocksAreRunsAndCyclesAlternate) {
    const Homes block({.placement = Placement::block}, 10, 4), cyclic({.placement = Placement::cyclic}, 10, 4);
    const std::vector<int> blocks = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3}, cycles = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1};
    for (std::size_t page = 0; page < 10; ++page) {
        EXPECT_EQ(block.of(page), blocks[page]);
        EXPECT_EQ(cyclic.of(page), cycles[page]);
    }
}

RC_GTEST_PROP(HomesTest, RunsCoverAllPagesAndNeverMixHomes, ()) {
    const auto placement = *rc::gen::element(Placement::block, Placement::cyclic);
    const auto pages = static_cast<std::size_t>(*rc::gen::inRange(1, 200));
    const int ranks = *rc::gen::inRange(1, 9);
    const Homes homes({.placement = placement}, pages, ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        std::size_t runs = 0;
        for (std::size_t page = 0; page < pages; ++runs) {
            RC_ASSERT(homes.of(page) >= 0 && homes.of(page) < ranks);
            const auto [begin, count] = homes.run_from(page, pages, rank);
            RC_ASSERT(begin == page && count > 0 && begin + count <= pages);
            for (std::size_t each = begin; each < begin + count; ++each)
                RC_ASSERT((homes.of(each) == rank) == (homes.of(begin) == rank));
            page = begin + count;
        }
        RC_ASSERT(runs <= homes.runs());
    }
}

} // namespace
} // namespace kumiki::dsm
